"""How affiliations write countries."""

from __future__ import annotations

from functools import cache

# One country a line, which goes on after a semicolon: its name, then other ways to write it (own
# language, abbreviations, parts).
_COUNTRIES = """
Argentina; Argentine; República Argentina
Armenia
Australia; NSW; Victoria Australia; ACT Australia; Tasmania
Austria; Österreich
Azerbaijan
Bangladesh
Belarus
Belgium; Belgique; België; Belgien
Bolivia
Bosnia and Herzegovina
Brazil; Brasil
Bulgaria
Canada; Ontario; Quebec; Québec; British Columbia; Alberta; Nova Scotia; Manitoba
Chile
China; PR China; P R China; P. R. China; Peoples Republic of China;
    People's Republic of China; People’s Republic of China; Mainland China;
    Hong Kong; Macau; Hong Kong SAR; Macau SAR
Colombia
Costa Rica
Croatia; Hrvatska
Cuba
Cyprus
Czechia; Czech Republic; The Czech Republic; Czechoslovakia; Česká republika
Denmark; Danmark
Ecuador
Egypt
Estonia
Ethiopia
Finland; Suomi
France; République française; Guadeloupe; La Réunion
Georgia; Georgia Republic; Republic of Georgia
Germany; Deutschland; Federal Republic of Germany; FRG; F R Germany; West Germany; East Germany
Ghana
Greece; Hellas
Guatemala
Honduras
Hungary; Magyarország
Iceland
India
Indonesia
Iran; Islamic Republic of Iran; I R Iran
Iraq
Ireland; Republic of Ireland; Eire
Israel
Italy; Italia; Italie; Italien
Japan
Jordan
Kazakhstan; Republic of Kazakhstan
Kenya
Kuwait
Latvia
Lebanon
Lithuania
Luxembourg
Malaysia
Malta
Mauritius
Mexico; México; Mexique
Moldova
Mongolia
Montenegro
Morocco; Maroc
Namibia
Nepal
Netherlands; The Netherlands; the Netherlands; Nederland; Holland; Pays-Bas
New Zealand; Aotearoa New Zealand
Nigeria
North Macedonia
Norway; Norge
Oman
Pakistan
Palestine
Panama
Paraguay
Peru; Perú
Philippines; The Philippines
Poland; Polska
Portugal
Qatar
Romania; România
Russia; Russian Federation; USSR; U.S.S.R.; Soviet Union
Rwanda
Saudi Arabia; Kingdom of Saudi Arabia
Senegal
Serbia; Republic of Serbia; Yugoslavia
Singapore
Slovakia; Slovak Republic
Slovenia; Slovenija
South Africa; Republic of South Africa; RSA
South Korea; Korea; Republic of Korea; R.O. Korea; Rep of Korea; Korea South
Spain; España; Espagne; Spanien; Canary Islands; Islas Canarias; Tenerife
Sri Lanka
Sudan
Sweden; Sverige
Switzerland; Suisse; Schweiz; Svizzera; Confoederatio Helvetica
Syria
Taiwan; Republic of China; ROC; R.O.C.; Taiwan ROC; Taiwan R O C
Tajikistan
Tanzania
Thailand
Tunisia
Türkiye; Turkey; Turkiye
Uganda
Ukraine
United Arab Emirates; UAE; U.A.E.
United Kingdom; UK; U.K.; Great Britain; England; Scotland; Wales; Northern Ireland; GB;
    The United Kingdom; The UK; Royaume-Uni
United States; USA; U.S.A.; US; U.S.; United States of America;
    The United States; The United States of America; Estados Unidos; Etats-Unis; États-Unis;
    Puerto Rico; Washington DC; Washington D.C.
Uruguay
Uzbekistan; Republic of Uzbekistan
Vatican City; Vatican; Vatican City State; Holy See
Venezuela
Vietnam; Viet Nam
Zambia
Zimbabwe
"""

# States as ADS writes them at the end of an affiliation: "Pasadena, CA 91125".
_STATES = """
AL AK AZ AR CA CO CT DC FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV
NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY
"""

_STATE_NAMES = """
Alabama; Alaska; Arizona; Arkansas; California; Colorado; Connecticut; Delaware; Florida; Hawaii;
Hawai'i; Idaho; Illinois; Indiana; Iowa; Kansas; Kentucky; Louisiana; Maine; Maryland;
Massachusetts; Michigan; Minnesota; Mississippi; Missouri; Montana; Nebraska; Nevada; New Hampshire;
New Jersey; New Mexico; New York; North Carolina; North Dakota; Ohio; Oklahoma; Oregon;
Pennsylvania; Rhode Island; South Carolina; South Dakota; Tennessee; Texas; Utah; Vermont; Virginia;
Washington; West Virginia; Wisconsin; Wyoming
"""


@cache
def country_names() -> dict[str, str]:
    """Countries by every normalised way to write them.

    Examples
    --------
    >>> names = country_names()
    >>> names["the netherlands"], names["deutschland"], names["u s a"]
    ('Netherlands', 'Germany', 'United States')
    """
    from landscape._wording import normal_title

    found = {}
    for line in _COUNTRIES.replace(";\n", ";").strip().splitlines():
        names = [name.strip() for name in line.split(";")]
        found.update({normal_title(name): names[0] for name in names})
    states = [*_STATES.split(), *(name.strip() for name in _STATE_NAMES.split(";"))]
    return {normal_title(name): "United States" for name in states} | found
