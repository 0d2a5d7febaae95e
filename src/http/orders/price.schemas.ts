import { type TSchema, Type } from 'typebox';
import { strictObject } from '#http/server/routes/answer-schemas.ts';
import { accepted, pricedOrder } from './order-body.schemas.ts';
import { priceExamples } from './order-examples.ts';

export const priceBody = Type.Object(
  {
    type: accepted('managed (bulk, where it is absent), direct, an etching, or mints', {
      enum: ['bulk', 'direct', 'rune-etch', 'rune-mint'],
    }),
    order: accepted('the body of an order; contents may be sizes', pricedOrder),
  },
  { acceptedForm: { required: ['order'], 'x-examples': priceExamples } },
);

const parameter = (description: string, form: Readonly<Record<string, unknown>>): TSchema =>
  Type.Optional(Type.String({ description, acceptedForm: form }));
const digits = { pattern: '^[0-9]{1,9}$' };

export const priceQuery = Type.Object({
  size: parameter('bytes of all files; required, except by an etching and mints', digits),
  fee: parameter('sats for a virtual byte; 2 where it is absent', { pattern: '^[1-9][0-9]{0,3}$' }),
  count: parameter('files, or mints; 1 where it is absent', { pattern: '^[1-9][0-9]{0,3}$' }),
  type: parameter('bulk (where it is absent), direct, rune-etch or rune-mint', {
    enum: ['bulk', 'direct', 'rune-etch', 'rune-mint'],
  }),
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
export const legacyAnswer = strictObject({
  chainFee: sats('fees of all transactions'),
  serviceFee: sats('all else: postage, base fees and what comes with them'),
  baseFee: sats('a file'),
  rareSatsFee: sats('a file'),
  additionalFee: sats('a file'),
  postage: sats('a file'),
  amount: sats('to pay'),
  totalFee: sats('the same'),
});

const discount = strictObject({
  discount: Type.Number({ description: 'whole sats, or a percentage with two decimals' }),
  parameter: Type.Enum(['baseFee', 'rareSatsFee', 'collectionServiceFee']),
  type: Type.Enum(['fixed', 'percentage']),
});

const planned = strictObject({
  kind: Type.Enum(['commit', 'reveal', 'burn', 'mint']),
  weight: Type.Integer({ minimum: 0, description: 'weight units, once it is signed' }),
  vsize: Type.Integer({ minimum: 0, description: 'virtual bytes' }),
  fee: sats('to the miner'),
  files: Type.Integer({ minimum: 0, description: 'how many it inscribes or burns' }),
  firstFile: Type.Integer({ minimum: 0, description: 'index of the first of them' }),
});
const coded = {
  code: Type.String({ description: 'docs/orders.md, "The plan"' }),
  message: Type.String({ description: 'a sentence for people' }),
};

export const priceAnswer = strictObject({
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
  tokenPayCharge: Type.Optional(
    strictObject(
      {
        feeCharge: strictObject({
          amount: sats('the amount'),
          token: Type.Literal('BTC'),
          protocol: Type.Literal('bitcoin'),
        }),
        tokenCharge: strictObject({
          amount: Type.Number({ description: 'display units for all items, all digits' }),
          amountBase: Type.String({ description: 'base units' }),
          token: Type.String({ description: 'the rune, with spacers' }),
          protocol: Type.Literal('rune'),
        }),
      },
      'of a collection with a price in a rune: both are paid',
    ),
  ),
  amountPerFile: Type.Optional(Type.Number({ minimum: 0, description: 'sats, with ?plan=1' })),
  transactions: Type.Optional(Type.Array(planned, { description: 'in the order in which they are made' })),
  warnings: Type.Optional(
    Type.Array(strictObject(coded), {
      description:
        'why the order may cost another amount (absent: it costs this one); with ?plan=1 all warnings',
    }),
  ),
  savings: Type.Optional(Type.Array(strictObject({ ...coded, sats: sats('what it would save') }))),
});
