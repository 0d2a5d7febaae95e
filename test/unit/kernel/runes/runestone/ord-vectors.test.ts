import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { asRune } from '#kernel/runes/rune.ts';
import type { Artifact, Etching, Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { readIntegers } from '#kernel/runes/runestone/varint.ts';
import { asU128, type U128 } from '#kernel/runes/u128.ts';
import { read, scriptOf } from './runestone-reader.ts';

const folder = join(import.meta.dirname, '../../../../fixtures/runes');

type Integer = string | number | null | undefined;

interface ExpectedId {
  readonly block: number | string;
  readonly tx: number | string;
}

/** A runestone as the fixtures describe it. Fields are absent if they are null, false or empty. */
interface Expected {
  readonly edicts?: readonly {
    readonly id: ExpectedId;
    readonly amount: Integer;
    readonly output: Integer;
  }[];
  readonly etching?: {
    readonly divisibility?: Integer;
    readonly premine?: Integer;
    readonly rune?: Integer;
    readonly spacers?: Integer;
    readonly symbol?: string;
    readonly terms?: {
      readonly amount?: Integer;
      readonly cap?: Integer;
      readonly height?: readonly Integer[] | { readonly start?: Integer; readonly end?: Integer };
      readonly offset?: readonly Integer[] | { readonly start?: Integer; readonly end?: Integer };
    };
    readonly turbo?: boolean;
  };
  readonly mint?: ExpectedId;
  readonly pointer?: Integer;
  readonly flaw?: string;
}

const amountOf = (value: Integer): U128 | null => (value == null ? null : asU128(BigInt(value)));
const numberOf = (value: Integer): number | null => (value == null ? null : Number(value));
const idOf = ({ block, tx }: ExpectedId) => ({ block: asU128(BigInt(block)), tx: Number(tx) });

type Bounds = readonly Integer[] | { readonly start?: Integer; readonly end?: Integer } | undefined;
function boundsOf(bounds: Bounds): [U128 | null, U128 | null] {
  if (bounds === undefined) return [null, null];
  if (Array.isArray(bounds)) return [amountOf(bounds[0] as Integer), amountOf(bounds[1] as Integer)];
  const { start, end } = bounds as { start?: Integer; end?: Integer };
  return [amountOf(start), amountOf(end)];
}

function etchingOf({
  divisibility,
  premine,
  rune,
  spacers,
  symbol,
  terms,
  turbo,
}: Expected['etching'] & {}): Etching {
  const [heightStart, heightEnd] = boundsOf(terms?.height);
  const [offsetStart, offsetEnd] = boundsOf(terms?.offset);
  const { amount, cap } = terms ?? {};
  return {
    divisibility: numberOf(divisibility),
    premine: amountOf(premine),
    rune: rune == null ? null : asRune(BigInt(rune)),
    spacers: numberOf(spacers),
    symbol: symbol?.codePointAt(0) ?? null,
    terms:
      terms === undefined
        ? null
        : { amount: amountOf(amount), cap: amountOf(cap), heightStart, heightEnd, offsetStart, offsetEnd },
    turbo: turbo ?? false,
  };
}

const runestoneOf = ({ edicts, etching, mint, pointer }: Expected): Runestone => ({
  kind: 'runestone',
  edicts: (edicts ?? []).map(({ id, amount, output }) => ({
    id: idOf(id),
    amount: amountOf(amount)!,
    output: Number(output),
  })),
  etching: etching === undefined ? null : etchingOf(etching),
  mint: mint === undefined ? null : idOf(mint),
  pointer: numberOf(pointer),
});

interface Vector {
  readonly test: string;
  readonly integers: readonly string[];
  readonly n_outputs: number;
  readonly kind: 'runestone' | 'cenotaph';
  readonly expected: Expected;
  readonly script_pubkey: string;
}

const kebab = (name: string): string => name.replace(/(?<!^)(?=[A-Z])/gu, '-').toLowerCase();

function artifactOf({ kind, expected }: Vector): Artifact {
  if (kind === 'runestone') return runestoneOf(expected);
  const { flaw, mint, etching } = expected;
  return {
    kind,
    etching: etching == null ? null : asRune(BigInt(etching as Integer & {})),
    flaw: kebab(flaw!) as 'varint',
    mint: mint === undefined ? null : idOf(mint),
  };
}

const { vectors } = JSON.parse(readFileSync(join(folder, 'runestone_decipher.json'), 'utf8')) as {
  vectors: Vector[];
};

describe('runestones of ord’s unit tests', () => {
  test.each(vectors.map((vector) => [vector.test, vector] as const))('%s', (_, vector) => {
    const script = Buffer.from(vector.script_pubkey, 'hex');
    expect(read(script, vector.n_outputs)).toEqual(artifactOf(vector));
    expect(Buffer.from(scriptOf(vector.integers.map(BigInt)))).toEqual(script);
  });
});

const { varint } = JSON.parse(readFileSync(join(folder, 'ordinals_crate.json'), 'utf8')) as {
  varint: { valid: [string, string, number][]; errors: [string, string][] };
};

describe('integers of ord’s unit tests', () => {
  test.each(varint.valid)('%s is %s', (hex, value, length) => {
    const bytes = Buffer.from(hex, 'hex');
    expect(bytes).toHaveLength(length);
    expect(readIntegers(bytes, 0, length)).toEqual([asU128(BigInt(value))]);
  });

  test.each(varint.errors)('%s is refused: %s', (hex) => {
    const bytes = Buffer.from(hex, 'hex');
    expect(readIntegers(bytes, 0, bytes.length)).toBeNull();
  });
});

interface MainnetRunestone {
  readonly height: number;
  readonly tx: number;
  readonly outputs: number;
  readonly script: string;
  readonly runestone: Expected;
}

describe('runestones of mainnet', () => {
  const lines = brotliDecompressSync(readFileSync(join(folder, 'mainnet-runestones.ndjson.br')))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as MainnetRunestone);
  const heights = [...new Set(lines.map(({ height }) => height))];

  test.each(heights)('of block %i', (height) => {
    for (const { tx, outputs, script, runestone } of lines.filter((line) => line.height === height)) {
      const expected = runestoneOf(runestone);
      expect(read(Buffer.from(script, 'hex'), outputs), `transaction ${tx}`).toEqual(expected);
      expect(read(encipher(expected), outputs), `transaction ${tx}, written again`).toEqual(expected);
    }
  });

  test('a field without its value, of block 840011, is a cenotaph', () => {
    const script = Buffer.from('6a5d061440a2331416', 'hex');
    expect(read(script, 4)).toEqual({ kind: 'cenotaph', etching: null, flaw: 'truncated-field', mint: null });
  });
});
