import { type TSchema, Type } from 'typebox';
import { strictObject } from '#http/server/routes/answer-schemas.ts';
import { tokenOrder } from '#http/tokenpay/token-order.schemas.ts';
import { orderStates } from '#orders/order/order-machine.ts';
import { tokenOrderStates } from '#tokenpay/order/charge-state.ts';

const sats = (description: string) => Type.Integer({ minimum: 0, description });
const moment = (description: string) => Type.Integer({ description: `${description}, in ms since 1970` });
const txid = (description: string) => Type.String({ description: `transaction: ${description}` });
const text = (description: string) => Type.String({ description });
/** A flag that is absent unless it is true. */
const flag = (description: string) => Type.Optional(Type.Literal(true, { description }));
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
/** A value as the client sent it. Numbers may be texts. */
const sent = (description: string) => Type.Union([Type.Number(), Type.String()], { description });

const warnings = Type.Array(strictObject({ code: Type.String(), message: text('a sentence for people') }));

const delegate = strictObject(
  Object.fromEntries(
    ['delegateId', 'metaprotocol', 'metadataUrl', 'metadataSize'].map((name) => [
      name,
      Type.Optional(sent('the value as it was sent')),
    ]),
  ),
);
const sentParent = {
  inscriptionId: Type.Optional(text('id of the parent')),
  returnAddress: Type.Optional(text('address to which the parent returns')),
  value: Type.Optional(sent('sats of the output that contained it')),
};
const parent = strictObject({
  ...sentParent,
  depositAddress: Type.Optional(text('send the parent here')),
  txid: Type.Optional(txid('the one that brought the parent to the deposit address')),
  vout: Type.Optional(Type.Integer({ minimum: 0, description: 'index of that output' })),
  parentReturnTx: Type.Optional(txid('returns the parent; absent until a node has it')),
});

/** Inputs of an order in the form that the client sent. An input that was not sent is null or absent. */
const inputs = {
  receiveAddress: Type.Union([Type.String(), Type.Array(Type.String())], {
    description: 'one address, or one for each file',
  }),
  delegates: Type.Array(delegate),
  inscriptionIdPrefix: text('the ids of the inscriptions begin with it'),
  allowedSatributes: Type.Array(Type.String()),
  additionalFee: sats('per file, for the referral account'),
  referral: text('referral code'),
  refundAddress: text('address for refunds'),
  projectTag: text('the text as it was sent'),
  webhookUrl: text('URL that receives each event of the order'),
};
const managedInputs = {
  rareSats: sent('type of sats, as it was sent'),
  compress: Type.Union([Type.Boolean(), Type.String(), Type.Number()], {
    description: 'the value as it was sent',
  }),
  batchMode: sent('the value as it was sent'),
};
const terms = {
  fee: sent('sats per virtual byte, as it was sent'),
  payToAnchor: Type.Boolean({ description: 'burnAfterInscribe' }),
  uncurseIt: Type.Boolean({
    description: 'true: inscribes without the forms that were cursed before the jubilee',
  }),
};
const costs = {
  chainFee: sats('fees of all transactions'),
  serviceFee: sats('everything except chainFee: postage, base fees and additions to them'),
  baseFee: sats('a file'),
  rareSatsFee: Type.Optional(sats('per file, for a sat of the inventory')),
  additionalFeeCharged: sats('for all files, for the referral account'),
  postage: sats('a file'),
  priceHeldUntil: Type.Optional(
    moment('the price is valid until then; a later payment may have to be increased'),
  ),
};

const orNulls = (fields: Readonly<Record<string, TSchema>>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, orNull(schema)]));
const optionals = (fields: Readonly<Record<string, TSchema>>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]));

/** Fields of a file whose content this service stores. A delegate does not have these fields. */
const storedFile = {
  name: Type.Optional(text('file name with its extension')),
  size: Type.Optional(Type.Integer({ minimum: 0, description: 'bytes that are inscribed' })),
  type: Type.Optional(text('content type')),
  mimeType: Type.Optional(text('the same as type')),
  url: Type.Optional(text('URL of the content')),
  s3Key: Type.Optional(text('its key in that URL')),
  nonStandardTx: Type.Optional(
    Type.Literal(true, { description: 'true: its reveal is heavier than nodes relay' }),
  ),
};
const metadataSize = Type.Integer({ minimum: 0, description: 'bytes of its metadata in CBOR' });
const createdFile = strictObject(
  { ...storedFile, metadataSize: Type.Optional(orNull(metadataSize)) },
  'empty for a delegate',
);

const chargeAmount = sats('to pay');
const payHere = text('address to pay');
/** The charge of a managed order. Its fields are those of a payment service, because clients expect them. */
const managedCharge = {
  id: text('the id of the order'),
  description: Type.String(),
  desc_hash: Type.Literal(false),
  created_at: Type.Integer({ description: 'seconds since 1970' }),
  status: Type.Literal('unpaid', { description: 'always this value: read the state of the order instead' }),
  amount: chargeAmount,
  callback_url: Type.Literal(''),
  currency: Type.Literal('BTC'),
  source_fiat_value: sats('the same as amount'),
  fiat_value: Type.Optional(
    Type.Number({ minimum: 0, description: 'the amount in US dollars when it was made' }),
  ),
  auto_settle: Type.Literal(false),
  address: payHere,
  metadata: strictObject({}),
  chain_invoice: strictObject({ address: payHere }),
  hosted_checkout_url: text('the page of the order, with its id in the fragment'),
  uri: text('BIP 21'),
  ttl: Type.Integer({ minimum: 0, description: 'minutes until the payment must arrive' }),
};
const absentCharge = { success_url: Type.Null(), order_id: Type.Null(), notif_email: Type.Null() };

/** The joint payment of an order's sats and rune. */
const tokenPayCharge = strictObject(
  {
    id: text('id of its token order: GET /tokenpay/order/<id>'),
    state: Type.Enum([...tokenOrderStates]),
    feeCharge: strictObject({ ...tokenOrder.properties.feeCharge.properties }, 'the charge in sats'),
    tokenCharge: strictObject(
      { ...tokenOrder.properties.tokenCharge.properties },
      'the charge in the rune, for the creator',
    ),
    hosted_checkout_url: text('the page on which both charges are paid'),
    expiresAt: moment('end of the time to pay both charges'),
    refunds: text('how unused payments are refunded'),
  },
  'for a collection with a price in a rune: the customer pays both charges',
);

/** Payment from a wallet by a PSBT, as an alternative to the address. */
const psbtFeeRate = Type.Number({ description: 'sat/vB of the order; the payment may have any other' });
const psbt = Type.Union(
  [
    strictObject({
      path: Type.Literal('/create-special-sats-psbt'),
      body: strictObject({
        chargeAmount: sats('the missing amount'),
        fundingAddress: payHere,
        feeRate: psbtFeeRate,
      }),
    }),
    strictObject({
      path: Type.Literal('/create-parent-child-psbt'),
      body: strictObject({ orderId: text('the id of the order'), feeRate: psbtFeeRate }),
    }),
  ],
  {
    description:
      'POST this body with the addresses and keys of a wallet to this path: the answer is a PSBT that pays the order (docs/psbts.md); absent once nothing is missing',
  },
);

const created = {
  id: text('id of the order: keep it, because it alone gives access to the order'),
  status: Type.Literal('ok'),
  state: Type.Literal('waiting-payment'),
  ...costs,
  files: Type.Array(createdFile),
  ...terms,
  ...(orNulls(inputs) as { readonly [Name in keyof typeof inputs]: TSchema }),
  parents: orNull(Type.Array(strictObject(sentParent))),
  zeroConf: Type.Null(),
  createdAt: strictObject({ '.sv': Type.Literal('timestamp') }, 'a placeholder: GET /order has the time'),
  warnings: Type.Optional(warnings),
};

/**
 * The answer to a request that creates a direct order: the inputs (null if absent), and fields that the service adds.
 */
export const createdDirect = strictObject({
  ...created,
  orderType: Type.Literal('direct'),
  charge: strictObject({ amount: chargeAmount }, 'its address is in the answer to GET /order'),
  rareSats: Type.Optional(text('type of sats of the inventory, as it was sent')),
});

/** The answer to a request that creates a managed order, with all fields of its charge. */
export const createdManaged = strictObject({
  ...created,
  orderType: Type.Literal('bulk'),
  charge: strictObject({ ...managedCharge, ...absentCharge }),
  psbt,
  rareSatsFee: sats('a file, on special sats'),
  ...(orNulls(managedInputs) as { readonly [Name in keyof typeof managedInputs]: TSchema }),
  parent: orNull(strictObject(sentParent, 'the parent, if there is only one')),
});

const units = (description: string): TSchema =>
  Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: String.raw`^[0-9]+(\.[0-9]+)?$` })], {
    description: `${description}; a text if a JSON number would not be exact`,
  });
const window = (description: string): TSchema =>
  strictObject(
    {
      start: orNull(units('the first block with open mints')),
      end: orNull(units('the first block after open mints')),
    },
    description,
  );
/** The etching of an order, as it was requested. */
const etchedRune = strictObject(
  {
    turbo: Type.Boolean({ description: 'true: the rune opts into future changes of the protocol' }),
    rune: orNull(text('name with its spacers; null: ord assigns a name')),
    supply: units('premine + cap × amount, in units of the rune'),
    symbol: orNull(text('one character')),
    divisibility: Type.Integer({ minimum: 0, maximum: 38, description: 'decimals' }),
    premine: units('units of the rune that the receiver gets with the etching'),
    cap: units('maximum number of mints'),
    amount: units('units of the rune in one mint'),
    offset: window('open mints, in blocks after the block of the etching'),
    height: window('block heights with open mints'),
  },
  'the rune that it etches',
);

/** The answer to a request for an order that etches a rune. */
export const createdEtching = strictObject({
  ...createdManaged.properties,
  orderType: Type.Literal('rune-etch'),
  runeProperties: etchedRune,
});

const minted = {
  rune: text('name of the rune that it mints, with its spacers'),
  runeId: text('id of that rune'),
  numberOfMints: Type.Integer({ minimum: 1, description: 'mints that were ordered' }),
  executedMints: Type.Integer({ minimum: 0, description: 'mints that were executed' }),
  mintingTxs: Type.Array(txid('a sent mint'), { description: 'in the order of sending' }),
  failedMints: Type.Array(txid('a mined mint that minted nothing'), {
    description: 'entries of mintingTxs that were mined and not executed',
  }),
  refundedMints: Type.Integer({
    minimum: 0,
    description: 'mints that were not sent: their cost is refunded',
  }),
};

/** The answer to a request for an order of mints. */
export const createdMint = strictObject({
  ...createdManaged.properties,
  orderType: Type.Literal('rune-mint'),
  ...minted,
});

const price = sats('per item, for the creator of its collection');
const collection = strictObject(
  {
    id: text('id of the collection'),
    count: Type.Integer({ minimum: 1, description: 'number of items' }),
    type: Type.Enum(['random', 'requested'], { description: 'how its items were chosen' }),
    items: Type.Array(Type.Integer({ minimum: 1 }), { description: 'numbers of the items, one per file' }),
  },
  'the collection and the items that its files are',
);
const collectionServiceFee = sats('per item, for the service');

/** The answer to a request for an order of a collection's items. */
export const createdCollectionOrder = strictObject({
  ...createdManaged.properties,
  charge: orNull(createdManaged.properties.charge),
  psbt: Type.Optional(psbt),
  tokenPayCharge: Type.Optional(tokenPayCharge),
  collection,
  collectionServiceFee,
  price,
  fileCount: Type.Integer({ minimum: 1, description: 'number of items' }),
  amount: chargeAmount,
});

const madeFile = (tx: Readonly<Record<string, TSchema>>): TSchema =>
  strictObject(
    {
      ...storedFile,
      metadataSize: Type.Optional(metadataSize),
      iqueued: flag('true: its reveal is stored'),
      iqueuedAt: Type.Optional(moment('time of iqueued')),
      processing: flag('true: its reveal has too few confirmations yet'),
      completed: flag('true: it is inscribed, with enough confirmations'),
      status: Type.Optional(
        Type.Enum(['queued', 'broadcast', 'inscribed'], {
          description: 'state of its reveal: stored, sent, or with enough confirmations',
        }),
      ),
      error: Type.Optional(text('why the node does not accept its reveal')),
      inscriptionId: Type.Optional(text('id of the inscription, once its reveal was sent')),
      sent: Type.Optional(txid('its reveal, once it was sent')),
      tx: Type.Optional(strictObject(tx, 'its transactions, once its reveal was sent')),
    },
    'the fields of its content (absent for a delegate) and its progress',
  );

const fileTx = {
  inscription: text('id of the inscription'),
  reveal: txid('the one that inscribes it'),
  burn: Type.Optional(txid('the one that burns it')),
  totalFees: sats('fee of the reveal'),
  updatedAt: moment('time of sending'),
};
const managedFileTx = {
  ...fileTx,
  commit: Type.Optional(txid('the one that pays for all reveals')),
  fees: sats('fee of the reveal'),
  total_fees: sats('the same as fees'),
  inscriptions: Type.Array(Type.String()),
  reveals: Type.Array(Type.String()),
  satpoint: text('satpoint of the inscribed sat: <txid>:<vout>:<offset>'),
};

const refund = strictObject({
  address: text('address that got it'),
  amount: sats('refunded'),
  txid: txid('the refund'),
});

/** Fields of an order in the answer to a read. Fields without a value are absent (docs/orders-api.md, "States"). */
const read = {
  id: text('id of the order'),
  status: Type.Literal('ok'),
  state: Type.Enum([...orderStates], { description: 'docs/orders-api.md, "States"' }),
  createdAt: moment('time of its creation'),
  expiresAt: moment('end of the time to pay'),
  ...costs,
  ...terms,
  ...(optionals(inputs) as { readonly [Name in keyof typeof inputs]: TSchema }),
  rareSats: Type.Optional(sent('type of sats, as it was sent')),
  parents: Type.Optional(Type.Array(parent)),
  psbt: Type.Optional(psbt),
  paid: flag('true: the amount is paid, with enough confirmations'),
  paidAt: Type.Optional(moment('time of paid')),
  processing: flag('true: paid, and not completed yet'),
  completed: flag('true: all its inscriptions have enough confirmations'),
  expired: flag('true: the time to pay has ended'),
  received: Type.Optional(sats('all payments seen at its address, also those that do not count')),
  underpaid: flag('true: less than the amount was paid'),
  missing: Type.Optional(sats('the amount that one more payment must have')),
  overpaid: flag('true: more than the amount was paid'),
  repriced: Type.Optional(
    strictObject(
      {
        amount: sats('the additional amount to pay'),
        before: sats('the previous amount of the charge'),
        from: Type.Number({ description: 'sat/vB: the estimate when the price was made' }),
        to: Type.Number({ description: 'sat/vB: the estimate when the payment was seen' }),
        fee: Type.Number({ description: 'sat/vB that the transactions pay at the new price' }),
        until: moment('end of the time to pay the additional amount'),
      },
      'a late payment, after a rise of fees: pay `missing`, or cancel the order',
    ),
  ),
  inscribedCount: Type.Optional(
    Type.Integer({ minimum: 1, description: 'inscriptions, once it is completed' }),
  ),
  error: Type.Optional(text('why the order does not continue')),
  refund: Type.Optional(
    strictObject({ ...refund.properties }, 'the sum of all refunds, and the newest transaction'),
  ),
  refunds: Type.Optional(Type.Array(refund, { description: 'each refund, if there are several' })),
};

const directOrder = strictObject(
  {
    ...read,
    orderType: Type.Literal('direct'),
    charge: strictObject({ address: payHere, amount: chargeAmount, callback_url: Type.Literal('') }),
    files: Type.Array(madeFile(fileTx)),
  },
  'a direct order',
);

const managedOrder = strictObject(
  {
    ...read,
    orderType: Type.Literal('bulk'),
    charge: Type.Optional(strictObject(managedCharge, 'absent with tokenPayCharge')),
    tokenPayCharge: Type.Optional(tokenPayCharge),
    ...(optionals(managedInputs) as { readonly [Name in keyof typeof managedInputs]: TSchema }),
    parent: Type.Optional(parent),
    amount: chargeAmount,
    price: sats('per file, for the creator of a collection'),
    fileCount: Type.Integer({ minimum: 1, description: 'inscriptions' }),
    collection: Type.Optional(collection),
    collectionServiceFee: Type.Optional(collectionServiceFee),
    rareSatsFee: sats('a file, on special sats'),
    processingAt: Type.Optional(moment('time when its first transaction was stored')),
    tx: Type.Optional(strictObject(managedFileTx, 'the tx of the file, if the order has only one')),
    sent: Type.Optional(txid('the reveal of the file, if the order has only one and the reveal was sent')),
    files: Type.Array(madeFile(managedFileTx)),
  },
  'a managed order',
);

const etchingOrder = strictObject(
  {
    ...managedOrder.properties,
    orderType: Type.Literal('rune-etch'),
    runeProperties: etchedRune,
    etchingTx: Type.Optional(
      strictObject(
        {
          commit: txid('the commit of the etching'),
          reveal: Type.Optional(txid('the one that etches the rune, once it was sent')),
        },
        'its transactions, once its commit was sent',
      ),
    ),
    rune: Type.Optional(text('its name with spacers, once a block has its reveal')),
    runeId: Type.Optional(text('its id, once a block has its reveal')),
    fileCount: Type.Integer({ minimum: 0, description: 'inscriptions' }),
    inscribedCount: Type.Optional(
      Type.Integer({ minimum: 0, description: 'inscriptions, once it is completed' }),
    ),
  },
  'an order that etches a rune',
);

const mintOrder = strictObject(
  {
    ...managedOrder.properties,
    orderType: Type.Literal('rune-mint'),
    ...minted,
    fileCount: Type.Literal(0, { description: 'it inscribes nothing' }),
    inscribedCount: Type.Optional(Type.Literal(0, { description: 'once it is completed' })),
  },
  'an order that mints a rune',
);

/** An order as clients read it. Its fields depend on its type and its state. */
export const order = Type.Union([directOrder, managedOrder, etchingOrder, mintOrder], {
  description: 'an order: fields without a value are absent (docs/orders-api.md, "States")',
});
