"""Cleaning of the notations in real titles and abstracts."""

from __future__ import annotations

import gzip
import re
from itertools import islice
from pathlib import Path

import orjson
import pytest

from landscape.corpus import clean_text
from landscape.corpus.cleaning import clean_abstract
from tests.timing import assert_cost, assert_growth


@pytest.mark.parametrize(
    ("source", "readable"),
    [
        (r"$\sim 10^{6}\,M_\odot$", "∼10⁶ M⊙"),
        (r"by {\it et al.} and {\bf bold}", "by et al. and bold"),
        (r"as shown~\citep[e.g.][]{Smith2001,Jones}, we", "as shown, we"),
        (r"at $z \sim 3$ and $z\sim3$", "at z ∼ 3 and z∼3"),
        (r"$M_{\rm BH}$, $T_\mathrm{eff}$, M$_\rm V > -3$", "M_BH, T_eff, M_V > -3"),
        (r"$1.2^{+0.3}_{-0.2}$ km s$^{-1}$", "1.2 (+0.3/-0.2) km s⁻¹"),
        (r"$H_0$, $\Lambda$CDM, H$\alpha$, CO$_2$", "H₀, ΛCDM, Hα, CO₂"),
        (r"$85^{\circ}$, 5\arcsec, $1.35''$, 0\farcs5", "85°, 5″, 1.35″, 0″.5"),
        (r"[O\,{\sc iii}], \ion{H}{ii}, H\textsc{ii}", "[O III], H II, HII"),
        (r"Zaja\v{c}ek, Paczy\'nski, Fr\"{o}hlich, \'{\i}", "Zajaček, Paczyński, Fröhlich, í"),
        (r"$\dot{M}$ and $\bar{x}$", "Ṁ and x̄"),
        (r"$\frac{a+b}{c}$ and $\sqrt{2}$", "(a+b)/c and √2"),
        (r"90\% of A\&A, cost \$5 and \$6 million", "90% of A&A, cost $5 and $6 million"),
        ("``bright'' stars, 2000--2022", "“bright” stars, 2000–2022"),
        ("at ~10 kpc in Fig.~3, ~5%", "at ∼10 kpc in Fig. 3, ∼5%"),
        ("at z~2, redshift~3 and z~$4$ of NGC~1275", "at z∼2, redshift∼3 and z∼4 of NGC 1275"),
        (r"of $10^4$~K, Fig.~$3$", "of 10⁴ K, Fig. 3"),
        ("density 10^6 cm^-3 in my_file_2", "density 10⁶ cm⁻³ in my_file_2"),
        (r"\texttt{emcee} \href{http://x.org/a_b}{here}", "emcee here"),
        (r"\Euclid mission in \unicode{x2013}", "Euclid mission in –"),
        (r"\(x^2\) and $$y_1$$", "x² and y₁"),
        (r"the $^{13}$CO line, 5$^{\rm th}$", "the ¹³CO line, 5th"),
        (r"$\langle v\rangle$ for $\ell\leq 10$", "⟨v⟩ for ℓ≤10"),
    ],
)
def test_latex_becomes_text_that_can_be_read(source: str, readable: str) -> None:
    assert clean_text(source) == readable


@pytest.mark.parametrize(
    ("source", "readable"),
    [
        ("CO<SUB>2</SUB>, 10<SUP>-4</SUP>, R<SUB>p</SUB>", "CO₂, 10⁻⁴, R_p"),
        ("(E &gt; 100MeV) &amp; more. <P />", "(E > 100MeV) & more."),
        ("Aims: one. <BR />Methods: two.", "Aims: one. Methods: two."),
        ("{M}<SUB>* </SUB>≳ {10}<SUP>8</SUP> {M}<SUB>☉ </SUB>", "M*≳ 10⁸ M⊙"),
        ("{57}<SUB>-13</SUB><SUP>+12</SUP> %", "57 (+12/-13) %"),
        ("Study of SiO{}_{{{x}}} films", "Study of SiO_x films"),
        ("<jats:p>Text <jats:italic>in</jats:italic> tags</jats:p>", "Text in tags"),
        ("an <i>italic</i> word", "an italic word"),
        ("&lt;SUB&gt;2&lt;/SUB&gt;", "₂"),
    ],
)
def test_markup_of_ads_and_publishers_goes(source: str, readable: str) -> None:
    assert clean_text(source) == readable


@pytest.mark.parametrize(
    "text",
    [
        "significant (p<0.05) and z>2, a<b and c>d",
        "the mean field <B> and <z> of the sample",
        "5 < x < 10 & y > 3",
        "R&D; a <strange> word; x < y and z",
        "already clean: 10⁶ M⊙, Hα, naïve “quotes” – and ∼10 of them",
    ],
)
def test_what_only_looks_like_markup_stays(text: str) -> None:
    assert clean_text(text) == text


def test_comparisons_within_mathematics_are_not_tags() -> None:
    assert clean_text("with $p<0.05$ and $x>3$ but $<B>$") == "with p<0.05 and x>3 but <B>"


def test_odd_characters_are_made_ordinary() -> None:
    assert clean_text("ﬁrst\u00a0e\u0301toile\u200b soft\u00adhyphen\x00 \ufeff𝑀\u202ex") == (
        "first étoile softhyphen Mx"
    )


@pytest.mark.parametrize(
    "text", ["Not Available <P />", "", "  ", "Abstract not available.", "N/A", "-", "Abstract..."]
)
def test_a_note_that_there_is_no_abstract_is_none(text: str) -> None:
    assert clean_abstract(text) is None


def test_an_abstract_about_abstracts_is_one() -> None:
    assert clean_abstract("Abstract art of the sky") == "Abstract art of the sky"


@pytest.mark.parametrize(
    "text",
    ["{", "\\sc ", "\\sqrt[", "$a", "_{", "&amp;", "<", "\\frac", "\\(", "\\not", "\\^", " ."],
)
def test_text_made_to_exhaust_us_does_not(text: str) -> None:
    assert_growth(clean_text, lambda n: text * (n // len(text)), 50_000)


def test_real_abstracts_read_well_and_fast(real_papers: Path) -> None:
    with gzip.open(real_papers) as stream:
        papers = [orjson.loads(line) for line in islice(stream, 20_000, 21_500)]
    given = [paper[name] for paper in papers for name in ("title", "abstract")]
    texts = [clean_text(text) for text in given]
    assert_cost(
        lambda: [clean_text(text) for text in given],
        lambda: [re.findall(r"\w+|\W", text) for text in given],  # a plain pass over the text
        most=8,
    )
    left = [text for text in texts if set(text) & set("\\{}")]
    assert len(left) < 3, left
    assert not [text for text in texts if "  " in text or text != text.strip()]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("Code is available at this https URL.", "Code is available."),
        ("The code (this https URL) is public.", "The code is public."),
        ("Our data (see this http URL), and more.", "Our data, and more."),
        ("Found at this https URL and this http URL .", "Found."),
        ("Data: this https URL", "Data"),
        ("this https URL", ""),
        ("The URL of this survey, and URLs", "The URL of this survey, and URLs"),
        ("this " * 20 + "http URL " * 20, None),
    ],
)
def test_the_places_of_links_are_dropped(given: str, wanted: str | None) -> None:
    cleaned = clean_text(given)
    assert wanted is None or cleaned == wanted
    assert "this http URL" not in cleaned
    assert clean_text(cleaned) == cleaned
