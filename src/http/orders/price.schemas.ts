import { type TSchema, Type } from 'typebox';
import { inventoryTypes } from '#inventory/inventory-types.ts';

/**
 * What a reader accepts, for the document alone: it refuses with messages of its own, and takes numbers as texts too,
 * as clients send them.
 */
const accepted = (description: string, form: Readonly<Record<string, unknown>>): TSchema =>
  Type.Optional(Type.Unknown({ description, acceptedForm: form }));
const amount = (description: string): TSchema =>
  accepted(description, {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: '^[0-9]{1,15}$' },
    ],
  });
const rate = {
  anyOf: [
    { type: 'number', minimum: 0.1, maximum: 10_000 },
    { type: 'string', pattern: String.raw`^[0-9]{1,4}(\.[0-9]{1,3})?$` },
  ],
};
const text = (description: string): TSchema => accepted(description, { type: 'string' });
const flag = (description: string): TSchema => accepted(description, { type: 'boolean' });

const metadata = {
  metadataUrl: text('URL of JSON; a price needs metadataSize beside it'),
  metadataDataURL: text('JSON as data:application/json;base64,…'),
  metadataSize: amount('bytes of the metadata'),
  metaprotocol: text('written into the inscription, at most 520 bytes'),
};
const item = (properties: Readonly<Record<string, TSchema>>, description: string): TSchema =>
  accepted(description, { type: 'array', items: { type: 'object', properties } });

/** An order as far as its price depends on it. */
const order = {
  files: item(
    {
      name: text('with its extension, which decides the content type'),
      size: amount('bytes; those of a dataURL are counted again'),
      dataURL: text('data:<media type>;base64,<data>, or percent-encoded without ;base64'),
      url: text('not fetched for a price: size counts'),
      ...metadata,
    },
    'at most 10,000 with the delegates',
  ),
  delegates: item(
    { delegateId: text('id of the inscription that is shown'), ...metadata },
    'inscriptions that show the content of another one',
  ),
  receiveAddress: accepted('one address, or one for each file; absent: as long as the longest', {
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
  }),
  parents: item(
    {
      inscriptionId: text('id of the parent'),
      returnAddress: text('where it goes afterwards'),
      value: amount('sats of the output that holds it'),
    },
    'at most 100',
  ),
  fee: accepted('sats for a virtual byte, with at most three decimals; 2 where it is absent', rate),
  postage: amount('sats of each inscription’s output, 330 to 10,000; 546 where it is absent'),
  lowPostage: flag('the least postage that nodes relay to the receiver'),
  batchMode: accepted('an output for each inscription, or one for all of them', {
    enum: ['separate-outputs', 'shared-output'],
  }),
  rareSats: accepted('type of sats (/inventory), also as a satribute; random: those of the payment', {
    enum: ['random', ...inventoryTypes],
  }),
  referral: text('referral code'),
  additionalFee: amount('sats a file for the referral account; only with referral'),
  inscriptionIdPrefix: text('1 to 4 hex characters with which the ids begin'),
  burnAfterInscribe: flag('the inscriptions are sent to an OP_RETURN output'),
  uncurseIt: flag('only what was not cursed before the jubilee'),
  compress: flag('brotli where it is shorter'),
};

export const priceBody = Type.Object({
  type: accepted('managed (bulk, where it is absent) or direct', { enum: ['bulk', 'direct'] }),
  order: accepted('the body of an order; contents may be sizes', { type: 'object', properties: order }),
});

const parameter = (description: string, form: Readonly<Record<string, unknown>>): TSchema =>
  Type.Optional(Type.String({ description, acceptedForm: form }));
const digits = { pattern: '^[0-9]{1,9}$' };

export const priceQuery = Type.Object({
  size: parameter('bytes of all files; required', digits),
  fee: parameter('sats for a virtual byte; 2 where it is absent', { pattern: '^[1-9][0-9]{0,3}$' }),
  count: parameter('files; 1 where it is absent', { pattern: '^[1-9][0-9]{0,3}$' }),
  type: parameter('bulk (where it is absent) or direct', { enum: ['bulk', 'direct'] }),
  batchMode: parameter('an output for each inscription, or one for all of them', {
    enum: ['separate-outputs', 'shared-output'],
  }),
  rareSats: parameter('type of sats (/inventory), also as a satribute', { enum: ['random'] }),
  additionalFee: parameter('sats a file for the referral account', { pattern: '^[0-9]{1,6}$' }),
  postage: parameter('sats of each output, 330 to 10,000; 546 where it is absent', {
    pattern: '^(33[0-9]|[3-9][0-9]{2}|[1-9][0-9]{3}|10000)$',
  }),
  lowPostage: parameter('the least postage that nodes relay', { enum: ['true', 'false'] }),
  baseFee: parameter('sats a file, in place of the service’s own', { pattern: '^[0-9]{1,8}$' }),
});

const sats = (description: string) => Type.Integer({ minimum: 0, description });

/** The price as the public interface shows it. */
export const legacyAnswer = Type.Object({
  chainFee: sats('fees of all transactions'),
  serviceFee: sats('all else: postage, base fees and what comes with them'),
  baseFee: sats('a file'),
  rareSatsFee: sats('a file'),
  additionalFee: sats('a file'),
  postage: sats('a file'),
  amount: sats('to pay'),
  totalFee: sats('the same'),
});

const discount = Type.Object({
  discount: Type.Number(),
  parameter: Type.Enum(['baseFee', 'rareSatsFee', 'collectionServiceFee']),
  type: Type.Enum(['fixed', 'percentage']),
});

const planned = Type.Object({
  kind: Type.Enum(['commit', 'reveal', 'burn']),
  weight: Type.Integer({ minimum: 0, description: 'weight units, once it is signed' }),
  vsize: Type.Integer({ minimum: 0, description: 'virtual bytes' }),
  fee: sats('to the miner'),
  files: Type.Integer({ minimum: 1, description: 'how many it inscribes or burns' }),
  firstFile: Type.Integer({ minimum: 0, description: 'index of the first of them' }),
});
const coded = { code: Type.String(), message: Type.String({ description: 'a sentence for people' }) };

export const priceAnswer = Type.Object({
  chainFee: sats('fees of all transactions'),
  baseFee: sats('a file, after discounts'),
  serviceFee: sats(
    '(baseFee + rareSatsFee + collectionServiceFee + postage + price) × count + additionalFeeCharged + sizeFee',
  ),
  sizeFee: sats('a part of the chain fee, of managed orders'),
  rareSatsFee: sats('a file, after discounts'),
  additionalFee: sats('a file'),
  additionalFeeCharged: sats('for all files'),
  postage: sats('a file'),
  count: Type.Integer({ minimum: 1, description: 'inscriptions' }),
  price: sats('a file, for the creator of a collection'),
  collectionServiceFee: sats('a file, after discounts'),
  discounts: Type.Array(discount),
  amount: sats('to pay: serviceFee + chainFee'),
  amountPerFile: Type.Optional(Type.Number({ minimum: 0, description: 'sats, with ?plan=1' })),
  transactions: Type.Optional(Type.Array(planned, { description: 'in the order in which they are made' })),
  warnings: Type.Optional(
    Type.Array(Type.Object(coded), {
      description:
        'why the order may cost another amount (absent: it costs this one); with ?plan=1 all warnings',
    }),
  ),
  savings: Type.Optional(Type.Array(Type.Object({ ...coded, sats: sats('what it would save') }))),
});
