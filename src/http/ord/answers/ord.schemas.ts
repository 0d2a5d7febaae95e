import { type TObject, type TSchema, Type } from 'typebox';
import {
  type Answer,
  jsonText,
  pageOrJson,
  plainText,
  unchanged,
} from '#http/server/routes/answer-schemas.ts';
import { rarities } from '#kernel/sats/rarity.ts';

/*
 * Schemas of the responses of ord's paths (docs/ord-api.md). The responses are written as text, piece by piece, so
 * these schemas are used only for the API document, and for tests that check every response.
 */

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const integer = Type.Integer();
const text = Type.String();
const texts = Type.Array(text);
const integerOrNull = nullable(integer);
const textOrNull = nullable(text);
const satOrNull = Type.Union([Type.Integer(), Type.Null()], {
  description: 'null: it is on no sat, or this server has no sat index',
});
const hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const hex = Type.String({ pattern: '^([0-9a-f]{2})*$' });
const spacedRune = Type.String({ pattern: '^[A-Z](•?[A-Z]){0,27}$' });
const inscriptionId = Type.String({ pattern: '^[0-9a-f]{64}i[0-9]+$' });
const ids = Type.Array(inscriptionId);

const trait = Type.Union([Type.Null(), Type.Boolean(), Type.Number(), text]);
const attributes = Type.Object({ title: textOrNull, traits: Type.Record(text, trait) });
const galleryItem = Type.Object({ id: inscriptionId, attributes });
const charms = nullable(texts);

export const inscription = Type.Object({
  address: textOrNull,
  charms,
  child_count: integerOrNull,
  children: nullable(ids),
  content_length: integerOrNull,
  content_type: textOrNull,
  effective_content_type: textOrNull,
  fee: integerOrNull,
  height: integer,
  id: inscriptionId,
  metaprotocol: textOrNull,
  next: nullable(inscriptionId),
  number: integerOrNull,
  parents: nullable(ids),
  previous: nullable(inscriptionId),
  properties: Type.Object({ gallery: Type.Array(galleryItem), attributes }),
  rune: nullable(spacedRune),
  sat: satOrNull,
  satpoint: textOrNull,
  timestamp: integer,
  value: integerOrNull,
});

/** The fields of an inscription that other inscriptions can read. */
const inscriptionForInscriptions = Type.Object({
  charms,
  content_type: textOrNull,
  content_length: integerOrNull,
  delegate: nullable(inscriptionId),
  fee: integerOrNull,
  height: integer,
  id: inscriptionId,
  number: integerOrNull,
  output: textOrNull,
  sat: satOrNull,
  satpoint: textOrNull,
  timestamp: integer,
  value: integerOrNull,
  address: textOrNull,
});

const relative = Type.Object({
  charms,
  fee: integerOrNull,
  height: integer,
  id: inscriptionId,
  number: integerOrNull,
  output: textOrNull,
  sat: satOrNull,
  satpoint: textOrNull,
  timestamp: integer,
});

const input = Type.Object({
  previous_output: text,
  script_sig: hex,
  sequence: integer,
  witness: Type.Array(hex),
});
const transaction = Type.Object({
  version: integer,
  lock_time: integer,
  input: Type.Array(input),
  output: Type.Array(Type.Object({ value: integer, script_pubkey: hex })),
});

const bytes = Type.Array(Type.Integer({ minimum: 0, maximum: 255 }));
const bytesOrNull = nullable(bytes);
const envelope = Type.Object({
  input: integer,
  offset: integer,
  payload: Type.Object({
    body: bytesOrNull,
    content_encoding: bytesOrNull,
    content_type: bytesOrNull,
    delegate: bytesOrNull,
    duplicate_field: Type.Boolean(),
    incomplete_field: Type.Boolean(),
    metadata: bytesOrNull,
    metaprotocol: bytesOrNull,
    parents: Type.Array(bytes),
    pointer: bytesOrNull,
    properties: bytesOrNull,
    property_encoding: bytesOrNull,
    rune: bytesOrNull,
    unrecognized_even_field: Type.Boolean(),
  }),
  pushnum: Type.Boolean(),
  stutter: Type.Boolean(),
});

/** An integer from 0 to 2^128 - 1. */
const u128 = Type.Integer({ minimum: 0 });
const u128OrNull = nullable(u128);
// not a tuple, because the `items` of a tuple would be a list, which OpenAPI 3.1 does not allow
const range = Type.Array(u128OrNull, { minItems: 2, maxItems: 2 });
const runeName = Type.String({ pattern: '^[A-Z]{1,28}$' });
const runeId = Type.String({ pattern: '^[0-9]{1,20}:[0-9]{1,10}$' });
const terms = Type.Object({ amount: u128OrNull, cap: u128OrNull, height: range, offset: range });
const etching = Type.Object({
  divisibility: integerOrNull,
  premine: u128OrNull,
  rune: nullable(runeName),
  spacers: integerOrNull,
  symbol: textOrNull,
  terms: nullable(terms),
  turbo: Type.Boolean(),
});
const runestone = Type.Object({
  Runestone: Type.Object({
    edicts: Type.Array(Type.Object({ id: runeId, amount: u128, output: integer })),
    etching: nullable(etching),
    mint: nullable(runeId),
    pointer: integerOrNull,
  }),
});
const flaws = [
  'edict-output',
  'edict-rune-id',
  'invalid-script',
  'opcode',
  'supply-overflow',
  'trailing-integers',
  'truncated-field',
  'unrecognized-even-tag',
  'unrecognized-flag',
  'varint',
] as const;
const cenotaph = Type.Object({
  Cenotaph: Type.Object({
    etching: nullable(runeName),
    flaw: Type.Union(flaws.map((flaw) => Type.Literal(flaw))),
    mint: nullable(runeId),
  }),
});

const runeEntry = Type.Object({
  block: integer,
  burned: u128,
  divisibility: integer,
  etching: hash,
  mints: integer,
  number: integer,
  premine: u128,
  spaced_rune: spacedRune,
  symbol: textOrNull,
  terms: nullable(terms),
  timestamp: integer,
  turbo: Type.Boolean(),
});
// a pair, but not a tuple, because its `items` would be a list, which OpenAPI 3.1 does not allow
const idAndEntry = Type.Array(Type.Union([runeId, runeEntry]), { minItems: 2, maxItems: 2 });

/** Balances, by the name of the rune with spacers. */
const heldRunes = nullable(
  Type.Record(spacedRune, Type.Object({ amount: u128, divisibility: integer, symbol: textOrNull })),
);

const satRanges = Type.Union(
  [Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 })), Type.Null()],
  {
    description:
      'ranges of first sat and first sat after the range; null: the output is spent, or there is no sat index',
  },
);

const ofTransaction =
  'null: the value is in the transaction, and this server has neither its block nor a node';
const outputValue = Type.Union([Type.Integer(), Type.Null()], { description: ofTransaction });

export const output = Type.Object({
  address: textOrNull,
  confirmations: integer,
  indexed: Type.Boolean(),
  inscriptions: ids,
  outpoint: text,
  runes: heldRunes,
  sat_ranges: satRanges,
  script_pubkey: Type.Union([hex, Type.Null()], { description: ofTransaction }),
  spent: Type.Union([Type.Boolean(), Type.Null()], { description: ofTransaction }),
  transaction: hash,
  value: outputValue,
});

const sat = Type.Object({
  address: textOrNull,
  block: integer,
  charms: texts,
  cycle: integer,
  decimal: text,
  degree: text,
  epoch: integer,
  inscriptions: ids,
  name: text,
  number: integer,
  offset: integer,
  percentile: text,
  period: integer,
  rarity: Type.Union(rarities.map((rarity) => Type.Literal(rarity))),
  satpoint: textOrNull,
  timestamp: integerOrNull,
});

const blockInfo = Type.Object({
  average_fee: integer,
  average_fee_rate: integer,
  bits: integer,
  chainwork: text,
  confirmations: integer,
  difficulty: Type.Number(),
  hash,
  feerate_percentiles: Type.Array(integer),
  height: integer,
  max_fee: integer,
  max_fee_rate: integer,
  max_tx_size: integer,
  median_fee: integer,
  median_time: integerOrNull,
  merkle_root: hash,
  min_fee: integer,
  min_fee_rate: integer,
  next_block: nullable(hash),
  nonce: integer,
  previous_block: nullable(hash),
  subsidy: integer,
  target: hash,
  timestamp: integer,
  total_fee: integer,
  total_size: integer,
  total_weight: integer,
  transaction_count: integer,
  version: integer,
});

// a type and not an interface, because interfaces have no index signature
type Answers = { readonly 200: Answer; readonly 304: TSchema };
const indexed = (answer: Answer): Answers => ({ 200: answer, 304: unchanged });
const listOf = (pageName: 'page' | 'page_index'): TObject =>
  Type.Object({ ids, more: Type.Boolean(), [pageName]: integer });
const entriesOf = (name: string): TObject =>
  Type.Object({ [name]: Type.Array(relative), more: Type.Boolean(), page: integer });

/** The responses of ord's paths, grouped by subject. */
export const ordAnswers = {
  inscription: {
    ...indexed(pageOrJson(inscription, 'the inscription')),
    404: jsonText(
      Type.Null(),
      'unknown; null for clients that send Accept: application/json and no User-Agent, like the client of ord',
    ),
  },
  inscriptions: { 200: jsonText(Type.Array(inscription), 'the inscriptions in the requested order') },
  missing: { 200: jsonText(texts, 'the ids that are not indexed') },
  recursiveInscription: indexed(jsonText(inscriptionForInscriptions, 'the inscription')),
  metadata: indexed(jsonText(hex, 'CBOR in hex')),
  pageOfRelatives: indexed(pageOrJson(listOf('page'), 'a page of ids')),
  pageIndexOfRelatives: indexed(pageOrJson(listOf('page_index'), 'a page of ids')),
  pageOfIds: indexed(jsonText(listOf('page'), 'a page of ids')),
  pageIndexOfIds: indexed(jsonText(listOf('page_index'), 'a page of ids')),
  children: indexed(jsonText(entriesOf('children'), 'a page of children')),
  parents: indexed(jsonText(entriesOf('parents'), 'a page of parents')),
  galleryItem: indexed(
    jsonText(
      Type.Object({
        gallery_id: inscriptionId,
        gallery_number: integerOrNull,
        i: integer,
        item: galleryItem,
      }),
      'the item',
    ),
  ),
  transaction: indexed(
    pageOrJson(
      Type.Object({
        chain: text,
        etching: nullable(spacedRune),
        inscription_count: integer,
        transaction,
        txid: hash,
      }),
      'the transaction',
    ),
  ),
  decode: {
    200: jsonText(
      Type.Object({
        inscriptions: Type.Array(envelope),
        runestone: nullable(Type.Union([runestone, cenotaph])),
      }),
      'its envelopes and its runestone',
    ),
  },
  hex: indexed(jsonText(hex, 'bytes in hex')),
  liveHex: { 200: jsonText(hex, 'bytes in hex') },
  input: { 200: jsonText(Type.Object({ path: Type.Array(integer), input }), 'the input') },
  output: indexed(pageOrJson(output, 'the output')),
  outputs: { 200: jsonText(Type.Array(output), 'the outputs in the requested order') },
  utxo: {
    200: jsonText(
      Type.Object({ inscriptions: ids, runes: heldRunes, sat_ranges: satRanges, value: outputValue }),
      'the output',
    ),
  },
  block: indexed(
    pageOrJson(
      Type.Object({
        best_height: integerOrNull,
        hash,
        height: integerOrNull,
        inscriptions: ids,
        runes: nullable(Type.Array(spacedRune)),
        target: hash,
        transactions: Type.Array(transaction),
      }),
      'the block',
    ),
  ),
  blockInfo: indexed(jsonText(blockInfo, 'the known facts of the block')),
  blocks: indexed(
    pageOrJson(
      Type.Object({ last: integer, blocks: Type.Array(hash), featured_blocks: Type.Record(hash, ids) }),
      'the newest blocks',
    ),
  ),
  rune: indexed(
    pageOrJson(
      Type.Object({
        entry: runeEntry,
        id: runeId,
        mintable: Type.Boolean({ description: 'whether the next block may mint it' }),
        parent: nullable(inscriptionId),
      }),
      'the rune',
    ),
  ),
  runes: indexed(
    pageOrJson(
      Type.Object({
        entries: Type.Array(idAndEntry),
        more: Type.Boolean(),
        prev: integerOrNull,
        next: integerOrNull,
      }),
      'a page of 50, and the first entry of the next page',
    ),
  ),
  sat: indexed(pageOrJson(sat, 'the sat')),
  rareSats: { 200: plainText('one line per sat') },
  satInscription: { 200: jsonText(Type.Object({ id: nullable(inscriptionId) }), 'the inscription') },
  text: indexed(plainText('the value')),
  hash: indexed(jsonText(hash, 'the hash')),
} as const satisfies Readonly<
  Record<string, { readonly 200: Answer; readonly 304?: TSchema; readonly 404?: Answer }>
>;
