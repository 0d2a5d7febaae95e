import { Type } from 'typebox';
import { exampleAddress, exampleId } from '#http/parameters/list-parameters.ts';
import { amountParts, ownerParts, runeParts } from '#http/runes/rune-views.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { confidences, moveClasses, saleForms } from '#kernel/sales/sale-names.ts';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const cursor = Type.Optional(
  Type.String({
    maxLength: 128,
    description: 'nextCursor of the previous page',
    acceptedForm: acceptedForms.cursor,
  }),
);
const limit = Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'entries per page' });

export const listQuery = Type.Object({ cursor, limit });
export const transfersQuery = Type.Object({
  address: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'from or to this address',
      acceptedForm: acceptedForms.address,
      examples: [exampleAddress],
    }),
  ),
  inscription: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'id of the inscription that moves',
      acceptedForm: acceptedForms.inscriptionId,
      examples: [exampleId],
    }),
  ),
  cursor,
  limit,
});

export const summaryAnswer = Type.Object({
  following: Type.Boolean(),
  state: Type.String({ description: 'off, loading, following, waiting, ended or silent' }),
  source: nullable(Type.String({ description: 'zmq or polling' })),
  since: nullable(Type.String()),
  revision: nullable(Type.Integer()),
  transactions: nullable(Type.Integer()),
  kept: nullable(Type.Integer()),
  keptBytes: nullable(Type.Integer()),
  leftOut: nullable(Type.Integer()),
  problem: nullable(Type.String()),
});

/** Fields about the transaction of a row. */
export const ofTransaction = {
  txid: Type.String(),
  firstSeen: Type.String(),
  fee: nullable(Type.Integer({ description: 'sats' })),
  vsize: Type.Integer(),
  feeRate: nullable(Type.Number({ description: 'sats per vbyte' })),
  replaces: Type.Array(Type.String({ description: 'txids' })),
};

const place = Type.Object({
  kind: Type.String({ description: 'output, fee, unbound or unknown' }),
  satpoint: nullable(Type.String()),
  address: nullable(Type.String()),
  value: nullable(Type.Integer({ description: 'sats' })),
});

export const inscriptionsAnswer = Type.Object({
  revision: Type.Integer(),
  inscriptions: Type.Array(
    Type.Object({
      id: Type.String(),
      ...ofTransaction,
      input: Type.Integer(),
      contentType: nullable(Type.String()),
      contentLength: nullable(Type.Integer()),
      contentHash: nullable(Type.String()),
      contentEncoding: nullable(Type.String()),
      metaprotocol: nullable(Type.String()),
      delegate: nullable(Type.String()),
      claimedParents: Type.Array(Type.String()),
      hasMetadata: Type.Boolean(),
      to: place,
    }),
  ),
  nextCursor: nullable(Type.String()),
});

export const transfersAnswer = Type.Object({
  revision: Type.Integer(),
  transfers: Type.Array(
    Type.Object({
      inscription: Type.String(),
      ...ofTransaction,
      from: Type.Object({ satpoint: Type.String(), address: nullable(Type.String()) }),
      to: place,
    }),
  ),
  nextCursor: nullable(Type.String()),
});

export const salesQuery = Type.Object({
  address: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'the address of the seller or the buyer',
      acceptedForm: acceptedForms.address,
      examples: [exampleAddress],
    }),
  ),
  inscription: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'id of the sold inscription',
      acceptedForm: acceptedForms.inscriptionId,
      examples: [exampleId],
    }),
  ),
  slug: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'slug of a collection: that of an import, or the id of a parent or gallery',
      examples: ['bitcoin-frogs'],
    }),
  ),
  cursor,
  limit,
});

const nameOf = <Name extends string>(names: Readonly<Record<Name, number>>, description: string) =>
  Type.Unsafe<Name>(Type.String({ enum: Object.keys(names), description }));

export const salesAnswer = Type.Object({
  revision: Type.Integer(),
  floor: nullable(
    Type.Object(
      { price: Type.Integer({ description: 'sats' }), inscriptionId: Type.String(), txid: Type.String() },
      {
        description:
          'the cheapest pending sale of the collection without wash trades: a price that a buyer pays now, not an open listing; null: there is none, or the request has no slug',
      },
    ),
  ),
  sales: Type.Array(
    Type.Object({
      inscriptionId: Type.String(),
      ...ofTransaction,
      outpoint: Type.String({ description: 'the seller’s output' }),
      input: Type.Integer({ description: 'index of the input that spends it' }),
      class: nameOf({ sale: moveClasses.sale, offer: moveClasses.offer }, 'docs/marketplace.md, "Classes"'),
      price: Type.Integer({ minimum: 0, description: 'sats' }),
      grossPayout: Type.Integer({ minimum: 0, description: 'sats' }),
      makerAddress: nullable(Type.String({ description: 'seller; null: the script has no address' })),
      takerAddress: nullable(
        Type.String({ description: 'buyer; null: the script has no address, or the item goes into the fee' }),
      ),
      form: nameOf(saleForms, 'layout'),
      confidence: nameOf(confidences, 'evidence'),
      payoutOutput: Type.Integer(),
      feeOutput: nullable(Type.Integer()),
      sighash: Type.Integer(),
      bundle: Type.Integer({ description: 'number of inscriptions that are sold together' }),
      wash: Type.Boolean(),
      rules: Type.Integer({ description: 'version of the rules' }),
      slug: nullable(
        Type.String({
          description: 'the requested slug, else that of the collection with which the item is shown',
        }),
      ),
    }),
  ),
  nextCursor: nullable(Type.String()),
});

export const runesQuery = Type.Object({
  address: transfersQuery.properties.address,
  rune: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'name, id or number of a rune',
      acceptedForm: acceptedForms.rune,
      examples: ['UNCOMMON.GOODS'],
    }),
  ),
  cursor,
  limit,
});

/** A rune. If it has no id yet, its etching transaction identifies it. */
const pendingRune = {
  rune: nullable(runeParts.rune),
  id: nullable(runeParts.id),
  etchedBy: nullable(Type.String({ description: 'the pending transaction that etches it' })),
};
const pendingAmount = { ...pendingRune, ...amountParts };
const atOutput = { output: Type.String(), ...ownerParts, ...pendingAmount };
export const runesAnswer = Type.Object({
  revision: Type.Integer(),
  transactions: Type.Array(
    Type.Object({
      ...ofTransaction,
      etching: nullable(
        Type.Object({
          rune: nullable(
            Type.String({ description: 'null: the block and the position in it decide the name' }),
          ),
          divisibility: Type.Integer(),
          symbol: nullable(Type.String()),
          premine: Type.String({ pattern: '^[0-9]+$' }),
          state: Type.String({
            description: 'open, taken, locked, reserved, uncommitted, immature, or unknown',
          }),
          matureHeight: nullable(
            Type.Integer({ description: 'the first block in which its commitment counts' }),
          ),
          rivals: Type.Array(Type.String(), {
            description: 'other pending etchings of the name, at most ten',
          }),
          warning: nullable(Type.String()),
        }),
      ),
      minted: Type.Array(Type.Object(pendingAmount), {
        description: 'amounts if the transaction were in the next block',
      }),
      sent: Type.Array(Type.Object(atOutput)),
      received: Type.Array(Type.Object(atOutput)),
      burned: Type.Array(Type.Object(pendingAmount)),
    }),
  ),
  nextCursor: nullable(Type.String()),
});

export const departuresAnswer = Type.Object({
  revision: Type.Integer(),
  departures: Type.Array(
    Type.Object({
      txid: Type.String(),
      reason: Type.String({ description: 'replaced or evicted' }),
      replacedBy: nullable(Type.String()),
      leftAt: Type.String(),
    }),
  ),
  nextCursor: nullable(Type.String()),
});

export type InscriptionsAnswer = Type.Static<typeof inscriptionsAnswer>;
export type SalesAnswer = Type.Static<typeof salesAnswer>;
export type RunesAnswer = Type.Static<typeof runesAnswer>;
export type TransfersAnswer = Type.Static<typeof transfersAnswer>;
export type PlaceJson = Type.Static<typeof place>;
