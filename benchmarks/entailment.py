"""Fit the network of `landscape.answers.entailment`.

Pairs: SNLI (Bowman et al. 2015, CC BY-SA 4.0; a file ``snli_1.0_train.jsonl`` or a part of it), and
pairs that `claim_pairs` generates from an atlas of real papers without those for the verdicts. The
states of MiniLM are computed once; only the attention, the comparison and the last layers are
fitted. Needs the extra ``models``.

Run: python -m benchmarks.entailment SNLI.jsonl ATLAS [--n 54000] [--epochs 3] [--write]
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import landscape as ls
from benchmarks.claim_pairs import generate
from benchmarks.results import print_table, save
from benchmarks.verdicts import is_for_verdicts
from landscape.answers.entailment import MAX_TOKENS, NETWORK
from landscape.answers.verdicts import LABELS
from landscape.embeddings.minilm import fastest_precision, load_encoder, tokenizer
from landscape.embeddings.weights import model_folder

_SNLI = {"entailment": "supported", "contradiction": "contradicted", "neutral": "not found"}
_WIDTH, _LAST = 160, 64  # of the projected states, and of the last hidden layer
_DROPOUT, _RATE, _BATCH, _HELD_OUT = 0.2, 2e-3, 64, 2000
_LARGE_NEGATIVE = -1e4  # score of padding
Pair = tuple[str, str, int]  # text, claim, label


class Network(nn.Module):
    """Decomposable attention (Parikh et al. 2016) with flags for equal tokens and digits."""

    def __init__(self) -> None:
        super().__init__()
        self.proj, self.att = nn.Linear(384, _WIDTH), nn.Linear(_WIDTH, _WIDTH)
        self.same = nn.Parameter(torch.tensor(1.0))
        self.comp = nn.Linear(4 * _WIDTH + 2, _WIDTH)
        self.out1, self.out2 = nn.Linear(4 * _WIDTH, _LAST), nn.Linear(_LAST, len(LABELS))
        self.drop = nn.Dropout(_DROPOUT)

    def forward(self, text: _Side, claim: _Side) -> torch.Tensor:
        """Return the scores of the labels for a batch."""
        ours, theirs = (torch.relu(self.proj(self.drop(side.states))) for side in (text, claim))
        same = text.tokens[:, :, None] == claim.tokens[:, None, :]
        same = same & text.mask[:, :, None] & claim.mask[:, None, :]
        scores = torch.einsum("nip,njp->nij", self.att(ours), self.att(theirs)) / _WIDTH**0.5
        scores = scores + self.same * same
        of_text = scores.masked_fill(~text.mask[:, :, None], _LARGE_NEGATIVE).softmax(1)
        of_claim = scores.masked_fill(~claim.mask[:, None, :], _LARGE_NEGATIVE).softmax(2)
        to_claim = torch.einsum("nij,nip->njp", of_text, ours)
        to_text = torch.einsum("nij,njp->nip", of_claim, theirs)
        pooled = [
            self._compared(theirs, to_claim, same.any(1), claim),
            self._compared(ours, to_text, same.any(2), text),
        ]
        hidden = torch.relu(self.out1(self.drop(torch.cat(pooled, 1))))
        scored: torch.Tensor = self.out2(self.drop(hidden))
        return scored

    def _compared(
        self, own: torch.Tensor, aligned: torch.Tensor, same: torch.Tensor, side: _Side
    ) -> torch.Tensor:
        flags = torch.stack([same, side.has_digit], 2).float()
        features = torch.cat([own, aligned, (own - aligned).abs(), own * aligned, flags], 2)
        compared = torch.relu(self.comp(self.drop(features)))
        mask = side.mask[..., None]
        mean = (compared * mask).sum(1) / mask.sum(1).clamp(min=1)
        return torch.cat([mean, compared.masked_fill(~mask, 0).amax(1)], 1)


class _Side(NamedTuple):
    """Padded texts or claims of a batch."""

    states: torch.Tensor
    tokens: torch.Tensor
    has_digit: torch.Tensor
    mask: torch.Tensor


class Texts:
    """The tokens of texts and their states in MiniLM."""

    def __init__(self, texts: Sequence[str]) -> None:
        folder = model_folder()
        self.tokens = [one.ids[:MAX_TOKENS] for one in tokenizer(folder).encode_batch(list(texts))]
        self.states: list[NDArray[np.float16]] = [None] * len(texts)  # type: ignore[list-item]
        precision = fastest_precision()
        encoder = load_encoder(folder, precision=precision, axes=np.eye(384, dtype=np.float32))
        inner = encoder(self.tokens, lambda _, __, states: states[1:-1].astype(np.float16))
        for place, states in inner:
            self.states[place] = states
        words = tokenizer(folder).get_vocab()
        self.digits = np.zeros(max(words.values()) + 1, dtype=bool)
        self.digits[[n for word, n in words.items() if any(map(str.isdigit, word))]] = True

    def side(self, places: Sequence[int]) -> _Side:
        """Return padded texts."""
        longest = max(1, *(len(self.states[place]) for place in places))
        states = np.zeros((len(places), longest, 384), dtype=np.float32)
        tokens = np.zeros((len(places), longest), dtype=np.int64)
        mask = np.zeros((len(places), longest), dtype=bool)
        for n, place in enumerate(places):
            length = len(self.states[place])
            states[n, :length] = self.states[place]
            tokens[n, :length] = self.tokens[place][1 : 1 + length]
            mask[n, :length] = True
        arrays = (states, tokens, self.digits[tokens], mask)
        return _Side(*(torch.from_numpy(array) for array in arrays))


def read_snli(path: Path, n: int) -> list[Pair]:
    """Read pairs on which the annotators agree."""
    with path.open(encoding="utf-8") as lines:
        records = (json.loads(line) for line in lines)
        pairs = (
            (one["sentence1"], one["sentence2"], LABELS.index(_SNLI[one["gold_label"]]))
            for one in records
            if one["gold_label"] in _SNLI
        )
        return list(islice(pairs, n))


def generated(atlas: ls.Atlas, n: int) -> list[Pair]:
    """Generate pairs from papers that the verdicts are not fitted to."""
    table, rng = atlas.read_papers(), random.Random(1)  # noqa: S311
    chosen = table[[not is_for_verdicts(str(one)) for one in table["paper_id"]]]
    papers = chosen[["title", "abstract"]].to_dict("records")
    found = generate(papers, lambda _: rng.randrange(len(papers)), per_paper=4)
    pairs = [(one.window(rng), one.claim, LABELS.index(one.label)) for _, one in found]
    rng.shuffle(pairs)
    return pairs[:n]


def batches(pairs: Sequence[tuple[int, int, int]], texts: Texts, seed: int) -> Iterator[list[int]]:
    """Yield the places of pairs of similar length."""
    rng = random.Random(seed)  # noqa: S311
    order = rng.sample(range(len(pairs)), len(pairs))
    found = []
    for start in range(0, len(order), _BATCH * 64):
        part = sorted(
            order[start : start + _BATCH * 64],
            key=lambda n: sum(len(texts.tokens[place]) for place in pairs[n][:2]),
        )
        found += [part[n : n + _BATCH] for n in range(0, len(part), _BATCH)]
    rng.shuffle(found)
    yield from found


def main() -> None:
    """Fit the network, print its accuracy, and store it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snli", type=Path)
    parser.add_argument("atlas")
    parser.add_argument("--n", type=int, default=54_000, help="number of pairs of SNLI")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="store the network")
    options = parser.parse_args()
    torch.manual_seed(0)
    pairs = [
        *read_snli(options.snli, options.n),
        *generated(ls.open(options.atlas), options.n // 2),
    ]
    unique = sorted({text for one in pairs for text in one[:2]})
    known = {text: n for n, text in enumerate(unique)}
    texts = Texts(unique)
    placed = [(known[text], known[claim], label) for text, claim, label in pairs]
    random.Random(0).shuffle(placed)  # noqa: S311
    held = min(_HELD_OUT, len(placed) // 5)
    test, train = placed[:held], placed[held:]
    network = fit(train, texts, epochs=options.epochs)
    accuracy = measure(network, test, texts)
    print_table("Entailment", ["pairs", "accuracy"], [[f"{len(test):,}", f"{accuracy:.3f}"]])
    if options.write:
        arrays = {
            name: one.numpy().astype(np.float16) for name, one in network.state_dict().items()
        }
        np.savez_compressed(NETWORK, **arrays)
    print(f"\n{save('entailment', {'accuracy': accuracy, 'pairs': len(test)})}")


def fit(train: Sequence[tuple[int, int, int]], texts: Texts, *, epochs: int) -> Network:
    """Fit the network with AdamW; the rate falls linearly to 0."""
    network = Network()
    optimizer: Any = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=1e-4)
    n_steps, step = epochs * len(list(batches(train, texts, 0))), 0
    for epoch in range(epochs):
        for rows in batches(train, texts, epoch):
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = _RATE * min(1.0, step / 100) * max(0.02, 1 - step / n_steps)
            loss = nn.functional.cross_entropy(
                _scores(network, [train[n] for n in rows], texts),
                torch.tensor([train[n][2] for n in rows]),
                label_smoothing=0.05,
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 2.0)
            optimizer.step()
    return network.eval()


def measure(network: Network, test: Sequence[tuple[int, int, int]], texts: Texts) -> float:
    """Return the accuracy."""
    right = 0
    with torch.inference_mode():
        for start in range(0, len(test), _BATCH):
            part = test[start : start + _BATCH]
            said = _scores(network, part, texts).argmax(1).tolist()
            right += sum(label == one[2] for label, one in zip(said, part, strict=True))
    return right / len(test)


def _scores(network: Network, pairs: Sequence[tuple[int, int, int]], texts: Texts) -> torch.Tensor:
    scores: torch.Tensor = network(*(texts.side([pair[n] for pair in pairs]) for n in (0, 1)))
    return scores


if __name__ == "__main__":
    main()
