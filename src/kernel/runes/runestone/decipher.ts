import { asRune } from '#kernel/runes/rune.ts';
import { isRuneId, maxU32, type RuneId } from '#kernel/runes/rune-id.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import {
  checkedProductU128,
  checkedSumU128,
  isAbove,
  maxU64,
  maxU128,
  sumU128,
  type U128,
  zeroU128,
} from '#kernel/runes/u128.ts';
import type { Artifact, Cenotaph, Edict, Etching, Flaw } from './artifact.ts';
import { Fields } from './fields.ts';
import { payloadOf } from './runestone-script.ts';
import { divisibilityMax, flags, spacersMax, tags } from './tags.ts';
import { readIntegers } from './varint.ts';

/*
 * Reads runestones like ord's `Runestone::decipher` (crates/ordinals/src/runestone.rs). Never throws: any bytes result
 * in a runestone or a cenotaph.
 */

const surrogatesStart = 0xd800;
const surrogatesEnd = 0xe000;
const codePointMax = 0x10ffff;
const integersOfEdict = 4;
/** Shared by all runestones without edicts, which are most of them. */
const noEdicts: readonly Edict[] = [];

/**
 * Reads the script between `start` and `end` of a transaction with `outputCount` outputs. The script must begin with
 * OP_RETURN OP_13. Takes time linear in the script.
 */
export function decipher(bytes: Uint8Array, start: number, end: number, outputCount: number): Artifact {
  const payload = payloadOf(bytes, start, end);
  if (typeof payload === 'string') return flawed(payload);
  const integers = readIntegers(payload.bytes, payload.start, payload.end);
  if (integers === null) return flawed('varint');

  const fieldsEnd = endOfFields(integers);
  const body = readBody(integers, fieldsEnd, outputCount);
  const fields = new Fields(integers, fieldsEnd);
  const bits = fields.take(tags.flags, maxU128) ?? zeroU128;
  const etching = hasFlag(bits, flags.etching) ? takeEtching(fields, bits) : null;
  const mint = takeMint(fields);
  const pointer = fields.takeSmall(tags.pointer, outputCount - 1);
  const named = etching?.rune ?? null;
  if (typeof body === 'string') return { kind: 'cenotaph', etching: named, flaw: body, mint };
  const flaw = etchingFlaw(bits, etching) ?? (fields.hasEvenLeft() ? 'unrecognized-even-tag' : null);
  if (flaw !== null) return { kind: 'cenotaph', etching: named, flaw, mint };
  return { kind: 'runestone', edicts: body, etching, mint, pointer };
}

const flawed = (flaw: Flaw): Cenotaph => ({ kind: 'cenotaph', etching: null, flaw, mint: null });

/** Index of the body's tag, or of a last tag without a value, or the end. */
function endOfFields(integers: readonly U128[]): number {
  for (let place = 0; place < integers.length; place += 2)
    if (integers[place] === tags.body || place + 1 === integers.length) return place;
  return integers.length;
}

/** Reads the part after the fields. It is empty, or the body's tag with edicts, or a tag without its value. */
function readBody(
  integers: readonly U128[],
  fieldsEnd: number,
  outputCount: number,
): readonly Edict[] | Flaw {
  if (fieldsEnd === integers.length) return noEdicts;
  if (integers[fieldsEnd] !== tags.body) return 'truncated-field';
  return readEdicts(integers, fieldsEnd + 1, outputCount);
}

/** The edicts of a body, or its first flaw. Each id is stored as the difference to the id before. */
function readEdicts(integers: readonly U128[], start: number, outputCount: number): readonly Edict[] | Flaw {
  let edicts: Edict[] | null = null;
  let id: RuneId = { block: zeroU128, tx: 0 };
  for (let place = start; place < integers.length; place += integersOfEdict) {
    if (place + integersOfEdict > integers.length) return 'trailing-integers';
    const next = nextId(id, integers[place]!, integers[place + 1]!);
    if (next === null) return 'edict-rune-id';
    const output = integers[place + 3]!;
    if (typeof output !== 'number' || output > outputCount) return 'edict-output';
    id = next;
    const edict = { id, amount: integers[place + 2]!, output };
    // most runestones have one edict, and a list that grows would reserve room for 17
    if (edicts === null) edicts = [edict];
    else edicts.push(edict);
  }
  return edicts ?? noEdicts;
}

function nextId(id: RuneId, blockStep: U128, txStep: U128): RuneId | null {
  if (typeof txStep !== 'number') return null;
  if (blockStep === 0 && txStep === 0) return id;
  if (isAbove(blockStep, maxU64)) return null;
  const block = sumU128(id.block, blockStep);
  const tx = blockStep === 0 ? id.tx + txStep : txStep;
  if (isAbove(block, maxU64) || tx > maxU32 || !isRuneId(block, tx)) return null;
  return { block, tx };
}

const hasFlag = (bits: U128, flag: number): boolean =>
  typeof bits === 'number' ? Math.floor(bits / flag) % 2 === 1 : (bits & BigInt(flag)) !== 0n;

/** Returns a flaw of the etching or of the flags. Flags are only recognized if there is an etching. */
function etchingFlaw(bits: U128, etching: Etching | null): Flaw | null {
  if (etching !== null && !isSupplyInRange(etching)) return 'supply-overflow';
  const known = etching === null ? 0 : flags.etching | flags.terms | flags.turbo;
  return bits > known ? 'unrecognized-flag' : null;
}

function takeEtching(fields: Fields, bits: U128): Etching {
  const rune = fields.take(tags.rune, maxU128);
  return {
    divisibility: fields.takeSmall(tags.divisibility, divisibilityMax),
    premine: fields.take(tags.premine, maxU128),
    rune: rune === null ? null : asRune(BigInt(rune)),
    spacers: fields.takeSmall(tags.spacers, spacersMax),
    symbol: takeSymbol(fields),
    terms: hasFlag(bits, flags.terms) ? takeTerms(fields) : null,
    turbo: hasFlag(bits, flags.turbo),
  };
}

function takeSymbol(fields: Fields): number | null {
  const symbol = fields.takeSmall(tags.symbol, codePointMax);
  // a surrogate is not a character; its tag is odd, so the value can be ignored
  return symbol !== null && symbol >= surrogatesStart && symbol < surrogatesEnd ? null : symbol;
}

function takeTerms(fields: Fields): Terms {
  return {
    cap: fields.take(tags.cap, maxU128),
    heightStart: fields.take(tags.heightStart, maxU64),
    heightEnd: fields.take(tags.heightEnd, maxU64),
    amount: fields.take(tags.amount, maxU128),
    offsetStart: fields.take(tags.offsetStart, maxU64),
    offsetEnd: fields.take(tags.offsetEnd, maxU64),
  };
}

/** The two values of the mint tag are the block and the index of the rune's id. */
function takeMint(fields: Fields): RuneId | null {
  const block = fields.value(tags.mint, 0);
  const tx = fields.value(tags.mint, 1);
  if (block === null || typeof tx !== 'number' || isAbove(block, maxU64)) return null;
  if (tx > maxU32 || !isRuneId(block, tx)) return null;
  fields.markTaken(tags.mint);
  return { block, tx };
}

function isSupplyInRange({ premine, terms }: Etching): boolean {
  const minted = checkedProductU128(terms?.cap ?? zeroU128, terms?.amount ?? zeroU128);
  return minted !== null && checkedSumU128(premine ?? zeroU128, minted) !== null;
}
