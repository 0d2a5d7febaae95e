import { type TSchema, Type } from 'typebox';

const sats = Type.Integer({ minimum: 0 });
/** An object as a typed client reads it: it fails on a wrong type, and ignores unknown fields. */
const open = (fields: Record<string, TSchema>): TSchema =>
  Type.Object(fields, { additionalProperties: true });
const orNull = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);

/** The price as a typed class reads it (client-compat 3.2). */
export const priceOfConsumer = open({
  chainFee: sats,
  baseFee: sats,
  rareSatsFee: sats,
  additionalFee: orNull(sats),
  count: sats,
  price: sats,
  collectionServiceFee: sats,
  postage: sats,
  additionalFeeCharged: sats,
  discounts: Type.Array(Type.Unknown()),
  amount: sats,
  serviceFee: sats,
});

/** The price as the price query returns it, without `status` (client-compat 3.1). */
export const legacyPriceOfConsumer = open({
  chainFee: sats,
  serviceFee: sats,
  baseFee: sats,
  rareSatsFee: sats,
  additionalFee: sats,
  postage: sats,
  amount: sats,
  totalFee: sats,
  status: Type.Optional(Type.Never()),
});

const file = open({
  name: Type.String(),
  size: sats,
  type: Type.String(),
  url: Type.String(),
  s3Key: Type.String(),
});
/** Fields that must be numbers, or clients crash. */
const fees = { chainFee: sats, serviceFee: sats, baseFee: sats, postage: sats, additionalFeeCharged: sats };

/** The response of a creation. Its time is the placeholder of recorded responses (client-compat 3.4). */
export const createdOfConsumer = open({
  id: Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$' }),
  status: Type.Literal('ok'),
  state: Type.Literal('waiting-payment'),
  orderType: Type.Union([Type.Literal('direct'), Type.Literal('bulk')]),
  charge: open({ amount: sats }),
  ...fees,
  files: Type.Array(file, { minItems: 1 }),
  delegates: Type.Null(),
  referral: orNull(Type.String()),
  webhookUrl: orNull(Type.String()),
  projectTag: orNull(Type.String()),
  zeroConf: Type.Null(),
  payToAnchor: Type.Boolean(),
  uncurseIt: Type.Boolean(),
  createdAt: Type.Object({ '.sv': Type.Literal('timestamp') }, { additionalProperties: false }),
});

/** The charge of a managed order. Clients show its address at once (client-compat 3.5). */
export const managedChargeOfConsumer = open({
  id: Type.String(),
  description: Type.String(),
  desc_hash: Type.Boolean(),
  created_at: sats,
  status: Type.Literal('unpaid'),
  amount: sats,
  callback_url: Type.String(),
  success_url: Type.Null(),
  order_id: Type.Null(),
  currency: Type.Literal('BTC'),
  source_fiat_value: sats,
  auto_settle: Type.Boolean(),
  notif_email: Type.Null(),
  address: Type.String(),
  metadata: open({}),
  chain_invoice: open({ address: Type.String() }),
  uri: Type.String({ pattern: '^bitcoin:bcrt1[0-9a-z]+\\?amount=[0-9.]+&label=' }),
  ttl: sats,
});

/** An order as clients read it until it is paid (client-compat 3.6). */
export const orderOfConsumer = open({
  id: Type.String(),
  status: Type.Literal('ok'),
  state: Type.Literal('waiting-payment'),
  createdAt: Type.Integer({ minimum: 1_600_000_000_000 }),
  charge: open({ address: Type.String(), amount: sats, callback_url: Type.String() }),
  ...fees,
  files: Type.Array(file, { minItems: 1 }),
});
