"""The words around the map, in several languages: legend, notes, and names of waters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """What is written on the sheet in one language; names in braces are filled in."""

    papers: str
    between: str
    half: str
    few_to_many: tuple[str, str]
    old_to_new: tuple[str, str]
    mountains: str
    coasts: str
    coasts_in_ink: str
    water: str
    rivers: str
    near: str
    generated: str
    sources: str
    strait: str
    sea: str
    drawn: str
    repainted: str
    plain: str
    thousands: str = ","

    def count(self, n: int) -> str:
        """A number of papers as it is written."""
        return f"{n:,}".replace(",", self.thousands)


_WORDINGS = {
    "en": Wording(
        papers="A map of {n} papers",
        between="{first} to {last}",
        half="At least half are from {middle} or later.",
        few_to_many=("few papers", "many"),
        old_to_new=("older", "newer"),
        mountains="Mountains: many papers, much is known. Plains: fewer papers.",
        coasts="Coasts: in two colours, for papers newer than usual{years} and for older ones.",
        coasts_in_ink="Coasts: hatched where papers are newer than usual{years}.",
        water="Water: hardly anybody has written here.",
        rivers="Rivers: citations flow from one region to another.",
        near="Near means similar; directions mean nothing.",
        generated="GENERATED DEMO CORPUS: these papers do not exist.",
        sources="Papers: {title}, from {sources}.",
        strait="Strait of {a} and {b}",
        sea="Sea of {a} and {b}",
        drawn="Drawn with Landscape {version}",
        repainted="repainted by {model}, checked against the data",
        plain="shaded from the data alone",
    ),
    "de": Wording(
        papers="Eine Karte von {n} Arbeiten",
        between="{first} bis {last}",
        half="Mindestens die Hälfte ist aus dem Jahr {middle} oder jünger.",
        few_to_many=("wenige Arbeiten", "viele"),
        old_to_new=("älter", "neuer"),
        mountains="Berge: viele Arbeiten, viel ist bekannt. Ebenen: weniger Arbeiten.",
        coasts="Küsten: zwei Farben, für neuere Arbeiten als üblich{years} und für ältere.",
        coasts_in_ink="Küsten: schraffiert, wo Arbeiten neuer als üblich sind{years}.",
        water="Wasser: Hier hat kaum jemand geschrieben.",
        rivers="Flüsse: Zitationen fließen von Gebiet zu Gebiet.",
        near="Nah heißt ähnlich; Richtungen bedeuten nichts.",
        generated="ERZEUGTE DEMO-SAMMLUNG: Diese Arbeiten gibt es nicht.",
        sources="Arbeiten: {title}, aus {sources}.",
        strait="Straße zwischen {a} und {b}",
        sea="Meer zwischen {a} und {b}",
        drawn="Gezeichnet mit Landscape {version}",
        repainted="übermalt von {model}, an den Daten geprüft",
        plain="allein aus den Daten schattiert",
        thousands=".",
    ),
    "fr": Wording(
        papers="Une carte de {n} articles",
        between="de {first} à {last}",
        half="Au moins la moitié date de {middle} ou après.",
        few_to_many=("peu d’articles", "beaucoup"),
        old_to_new=("ancien", "récent"),
        mountains="Montagnes : beaucoup d’articles, un savoir riche. Plaines : moins d’articles.",
        coasts="Côtes : deux couleurs, articles plus récents que d’habitude{years} ou plus vieux.",
        coasts_in_ink="Côtes : hachurées où les articles sont plus récents que d’habitude{years}.",
        water="Eau : presque personne n’a écrit ici.",
        rivers="Rivières : les citations coulent d’une région à l’autre.",
        near="Proche veut dire semblable ; les directions ne disent rien.",
        generated="CORPUS DE DÉMONSTRATION INVENTÉ : ces articles n’existent pas.",
        sources="Articles : {title}, de {sources}.",
        strait="Détroit entre {a} et {b}",
        sea="Mer entre {a} et {b}",
        drawn="Dessiné avec Landscape {version}",
        repainted="repeint par {model}, vérifié sur les données",
        plain="ombré à partir des seules données",
        thousands="\N{NARROW NO-BREAK SPACE}",
    ),
    "es": Wording(
        papers="Un mapa de {n} artículos",
        between="de {first} a {last}",
        half="Al menos la mitad es de {middle} o posterior.",
        few_to_many=("pocos artículos", "muchos"),
        old_to_new=("antiguo", "reciente"),
        mountains="Montañas: muchos artículos, se sabe mucho. Llanuras: menos artículos.",
        coasts="Costas: dos colores, artículos más recientes de lo habitual{years} o antiguos.",
        coasts_in_ink="Costas: rayadas, artículos más recientes de lo habitual{years}.",
        water="Agua: casi nadie ha escrito aquí.",
        rivers="Ríos: las citas fluyen de una región a otra.",
        near="Cerca significa parecido; las direcciones no significan nada.",
        generated="COLECCIÓN INVENTADA DE MUESTRA: estos artículos no existen.",
        sources="Artículos: {title}, de {sources}.",
        strait="Estrecho entre {a} y {b}",
        sea="Mar entre {a} y {b}",
        drawn="Dibujado con Landscape {version}",
        repainted="repintado por {model}, comprobado con los datos",
        plain="sombreado solo con los datos",
        thousands="\N{NO-BREAK SPACE}",
    ),
    "ar": Wording(
        papers="خريطة للأبحاث ({n})",
        between="من {first} إلى {last}",
        half="نصفها على الأقل من عام {middle} أو بعده.",
        few_to_many=("أبحاث قليلة", "كثيرة"),
        old_to_new=("أقدم", "أحدث"),
        mountains="الجبال: أبحاث كثيرة، نعرف الكثير. السهول: أبحاث أقل.",
        coasts="السواحل: لونان، لأبحاث أحدث من المعتاد{years} أو أقدم.",
        coasts_in_ink="السواحل: مظللة بخطوط حيث الأبحاث أحدث من المعتاد{years}.",
        water="الماء: لم يكتب هنا أحد تقريبًا.",
        rivers="الأنهار: استشهادات تجري من منطقة إلى أخرى.",
        near="القريب متشابه، أما الاتجاهات فلا معنى لها.",
        generated="مجموعة تجريبية مولَّدة: هذه الأبحاث غير موجودة.",
        sources="الأبحاث: {title}، من {sources}.",
        strait="مضيق بين {a} و{b}",
        sea="بحر بين {a} و{b}",
        drawn="رُسمت ببرنامج Landscape {version}",
        repainted="أعاد رسمها {model} وقورنت بالبيانات",
        plain="مظللة من البيانات وحدها",
    ),
    "hi": Wording(
        papers="{n} शोधपत्रों का मानचित्र",
        between="{first} से {last}",
        half="इनमें से कम से कम आधे {middle} या उसके बाद के हैं।",
        few_to_many=("कम शोधपत्र", "अधिक"),
        old_to_new=("पुराने", "नए"),
        mountains="पर्वत: अधिक शोधपत्र, बहुत कुछ ज्ञात है। मैदान: कम शोधपत्र।",
        coasts="तट: दो रंग, सामान्य से नए{years} और पुराने शोधपत्रों के लिए।",
        coasts_in_ink="तट: जहाँ शोधपत्र सामान्य से नए{years} हैं वहाँ तिरछी रेखाएँ।",
        water="जल: यहाँ लगभग किसी ने नहीं लिखा।",
        rivers="नदियाँ: उद्धरण एक क्षेत्र से दूसरे में बहते हैं।",
        near="पास का अर्थ है समान; दिशाओं का कोई अर्थ नहीं।",
        generated="बनाया हुआ नमूना संग्रह: ये शोधपत्र वास्तविक नहीं हैं।",
        sources="शोधपत्र: {title}, स्रोत {sources}।",
        strait="{a} और {b} के बीच जलडमरूमध्य",
        sea="{a} और {b} के बीच सागर",
        drawn="Landscape {version} से बनाया गया",
        repainted="{model} द्वारा पुनः चित्रित, आँकड़ों से जाँचा हुआ",
        plain="केवल आँकड़ों से छायांकित",
    ),
    "zh": Wording(
        papers="{n} 篇论文的地图",
        between="{first} 至 {last}",
        half="至少一半发表于 {middle} 年或之后。",
        few_to_many=("论文少", "论文多"),
        old_to_new=("较早", "较新"),
        mountains="山脉：论文多，已知甚多。平原：论文较少。",
        coasts="海岸：两种颜色，表示论文比平常新{years}或比平常早。",
        coasts_in_ink="海岸：斜线处论文比平常新{years}。",
        water="水域：几乎无人着笔。",
        rivers="河流：引用从一个区域流向另一个区域。",
        near="相近即相似；方向没有意义。",
        generated="生成的演示文集：这些论文并不存在。",
        sources="论文：{title}，来自 {sources}。",
        strait="{a}与{b}海峡",
        sea="{a}与{b}之海",
        drawn="由 Landscape {version} 绘制",
        repainted="由 {model} 重绘，并与数据核对",
        plain="仅据数据绘制",
    ),
}

LANGUAGES = tuple(_WORDINGS)


def wording(language: str) -> Wording:
    """Words around the map in a language, given as ``"de"`` or ``"pt-BR"``."""
    return _WORDINGS.get(language.lower().replace("_", "-").split("-")[0], _WORDINGS["en"])
