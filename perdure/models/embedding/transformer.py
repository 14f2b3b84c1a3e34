"""The forward pass of a BERT encoder in numpy."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_HEADS = 12
_EPSILON = np.float32(1e-12)


@dataclass(frozen=True, slots=True)
class Linear:
    """A dense layer; its weight is stored transposed, ready for ``x @ weight``."""

    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Apply the layer to each row."""
        out: Floats = x @ self.weight
        out += self.bias
        return out


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalisation."""

    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Apply the layer to each row."""
        out: Floats = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(np.einsum("...i,...i->...", out, out)[..., None] / np.float32(x.shape[-1]) + _EPSILON)
        out /= deviation
        out *= self.weight
        out += self.bias
        return out


@dataclass(frozen=True, slots=True)
class Block:
    """One encoder block: attention and feed-forward, each followed by its norm."""

    attention: Linear
    """Query, key and value concatenated, for one matrix product instead of three."""
    attended: Linear
    attended_norm: Norm
    widen: Linear
    narrow: Linear
    output_norm: Norm


@dataclass(frozen=True, slots=True)
class Encoder:
    """All weights of the model."""

    words: Floats
    positions: Floats
    """Includes the embedding of the single token type."""
    norm: Norm
    blocks: tuple[Block, ...]

    def sentence_vectors(self, ids: Integers, mask: Floats) -> Floats:
        """Return the mean-pooled, normalised vectors of a padded batch of token ids."""
        batch, length = ids.shape
        x = self.norm((self.words[ids] + self.positions[:length]).reshape(batch * length, -1))
        hidden = (mask[:, None, None, :] - np.float32(1.0)) * np.float32(1e9) if not mask.all() else None
        for block in self.blocks:
            x = block.attended_norm(x + block.attended(_attend(block.attention(x), batch, length, hidden)))
            x = block.output_norm(x + block.narrow(_gelu(block.widen(x))))
        pooled = np.einsum("blh,bl->bh", x.reshape(batch, length, -1), mask)
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        return pooled


def encoder_from(tensors: dict[str, Floats]) -> Encoder:
    """Build the encoder from the tensors of a checkpoint."""

    def linear(*names: str) -> Linear:
        weight = np.concatenate([tensors[f"{name}.weight"] for name in names])
        bias = np.concatenate([tensors[f"{name}.bias"] for name in names])
        return Linear(np.ascontiguousarray(weight.T), bias)

    def norm(name: str) -> Norm:
        return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def block(at: str) -> Block:
        return Block(
            attention=linear(*(f"{at}.attention.self.{part}" for part in ("query", "key", "value"))),
            attended=linear(f"{at}.attention.output.dense"),
            attended_norm=norm(f"{at}.attention.output.LayerNorm"),
            widen=linear(f"{at}.intermediate.dense"),
            narrow=linear(f"{at}.output.dense"),
            output_norm=norm(f"{at}.output.LayerNorm"),
        )

    layers = 1 + max(int(name.split(".")[2]) for name in tensors if name.startswith("encoder.layer."))
    return Encoder(
        words=tensors["embeddings.word_embeddings.weight"],
        positions=tensors["embeddings.position_embeddings.weight"]
        + tensors["embeddings.token_type_embeddings.weight"][0],
        norm=norm("embeddings.LayerNorm"),
        blocks=tuple(block(f"encoder.layer.{index}") for index in range(layers)),
    )


def _attend(projected: Floats, batch: int, length: int, hidden: Floats | None) -> Floats:
    size = projected.shape[1] // 3 // _HEADS
    query, key, value = projected.reshape(batch, length, 3, _HEADS, size).transpose(2, 0, 3, 1, 4)
    scores: Floats = (query * np.float32(size**-0.5)) @ key.transpose(0, 1, 3, 2)
    if hidden is not None:
        scores += hidden
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return (scores @ value).transpose(0, 2, 1, 3).reshape(batch * length, _HEADS * size)


def _gelu(x: Floats) -> Floats:
    """The exact GELU, x·Φ(x), by the rational form 7.1.26 of Abramowitz and Stegun (error below 1.5e-7)."""
    z = np.abs(x)
    z *= np.float32(0.5**0.5)
    t = z * np.float32(0.3275911)
    t += np.float32(1.0)
    np.reciprocal(t, out=t)
    tail = t * np.float32(1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(coefficient)
        tail *= t
    z *= z
    np.negative(z, out=z)
    np.exp(z, out=z)
    tail *= z
    # tail = 1 - erf(|x|/√2), so x·Φ(x) = max(x, 0) - |x|·tail/2.
    np.abs(x, out=z)
    tail *= z
    tail *= np.float32(0.5)
    np.maximum(x, np.float32(0.0), out=x)
    x -= tail
    return x
