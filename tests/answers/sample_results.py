"""Small results and answers that contain hostile text."""

from __future__ import annotations

from datetime import date

from landscape.types import (
    Answer,
    Claim,
    Consensus,
    Coverage,
    Evidence,
    Hit,
    Paper,
    Results,
    Stance,
    Step,
)

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)> $\\href{javascript:x}{y}$ [a](b)'


def sample_papers() -> tuple[Paper, ...]:
    return (
        Paper(
            row=0,
            paper_id="2022ApJ...931L..10S",
            title="The H₀ tension: 5% & rising?",
            abstract="It is cold. It cools. Fast.",
            authors=("Smith, Anna B.", "Roe, Bo-Chen"),
            date=date(2022, 5, 1),
            bibcode="2022ApJ...931L..10S",
            arxiv_id="2205.00001",
            doi="10.3847/2041-8213/ac1",
            journal="ApJL",
            doctype="article",
            cites=12,
            keywords=("dust", "R&D"),
            categories=("astro-ph.CO", "gr-qc"),
            source=("ads",),
        ),
        Paper(
            row=1,
            paper_id="2401.00001",
            title="Étoiles_and #1",
            abstract="β < 3 and x_i > 2, 5%.",
            authors=("Ludwig van Beethoven", "Müller, Ö.", "Planck Collaboration"),
            date=date(2024, 1, 2),
            arxiv_id="2401.00001",
            categories=("astro-ph.GA",),
            source=("arxiv",),
        ),
        Paper(
            row=2,
            paper_id="h\u202ex }1",
            title=HOSTILE,
            abstract=HOSTILE,
            authors=(HOSTILE, "A, B"),
            doi="10.1/}a%{b}",
        ),
        Paper(
            row=3,
            paper_id="2022A&A...412L..53Y",
            title="Same year",
            abstract="",
            authors=("Smith, Anna B.", "Roe, Bo-Chen"),
            date=date(2022, 7, 1),
            bibcode="2022A&A...412L..53Y",
            doctype="article",
        ),
    )


def sample_results() -> Results:
    hits = tuple(
        Hit(rank, paper, 1 / rank, {"semantic": 0.5}, rank == 3)
        for rank, paper in enumerate(sample_papers(), 1)
    )
    coverage = Coverage(
        "Test <b>atlas</b>",
        1200,
        30,
        {"arxiv": 1200},
        "1993-01-01",
        "2024-01-02",
        notes=("A note.",),
    )
    settings = {"k": 4, "weights": ("time",)}
    return Results("is it <i>cold</i>?", hits, coverage, settings, HOSTILE, 0.1)


def sample_answer() -> Answer:
    results = sample_results()
    first, second, third, _ = results.papers
    claims = (
        Claim(
            "It cools.",
            (first.label,),
            (Evidence(first.paper_id, first.label, 12, 21, "It cools."),),
            "supported",
        ),
        Claim(
            "β is large.",
            (second.label,),
            (
                Evidence(second.paper_id, second.label, 0, 5, "β < 3"),
                Evidence(second.paper_id, second.label, 2, 9, "< 3 and"),
            ),
            "contradicted",
        ),
        Claim(
            HOSTILE,
            (third.label,),
            (Evidence(third.paper_id, third.label, 0, 10, third.abstract[:10]),),
            "not found",
        ),
        Claim("Nobody says so.", (), (), "not found"),
    )
    stances = (
        Stance(first.paper_id, first.label, "supports", claims[0].evidence[0]),
        Stance(third.paper_id, third.label, "irrelevant"),
    )
    return Answer(
        "Is it <i>cold</i>?",
        f"It cools. [{first.label}] {HOSTILE}",
        claims,
        results,
        "some-model",
        consensus=Consensus("It is cold.", "Weak Agreement", HOSTILE, 0.75, stances),
        trace=(Step(HOSTILE, "search: `dust`", "found 3", (first.label,)),),
        ads_query='author:"^Smith" abs:dust',
        notes=(HOSTILE,),
    )
