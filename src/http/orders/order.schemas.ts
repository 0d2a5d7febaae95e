import { type TSchema, Type } from 'typebox';
import { strictObject } from '#http/server/routes/answer-schemas.ts';
import { tokenOrder } from '#http/tokenpay/token-order.schemas.ts';
import { orderStates } from '#orders/order/order-machine.ts';
import { tokenOrderStates } from '#tokenpay/order/charge-state.ts';

const sats = (description: string) => Type.Integer({ minimum: 0, description });
const moment = (description: string) => Type.Integer({ description: `${description}, in ms since 1970` });
const txid = (description: string) => Type.String({ description: `transaction: ${description}` });
const text = (description: string) => Type.String({ description });
/** Absent unless it is so. */
const flag = (description: string) => Type.Optional(Type.Literal(true, { description }));
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
/** A value as it was sent: numbers may be texts. */
const sent = (description: string) => Type.Union([Type.Number(), Type.String()], { description });

const warnings = Type.Array(strictObject({ code: Type.String(), message: text('a sentence for people') }));

const delegate = strictObject(
  Object.fromEntries(
    ['delegateId', 'metaprotocol', 'metadataUrl', 'metadataSize'].map((name) => [
      name,
      Type.Optional(sent('as it was sent')),
    ]),
  ),
);
const sentParent = {
  inscriptionId: Type.Optional(text('id of the parent')),
  returnAddress: Type.Optional(text('where it goes afterwards')),
  value: Type.Optional(sent('sats of the output that held it')),
};
const parent = strictObject({
  ...sentParent,
  depositAddress: Type.Optional(text('send the parent here')),
  txid: Type.Optional(txid('of the output that came to the deposit')),
  vout: Type.Optional(Type.Integer({ minimum: 0, description: 'index of that output' })),
  parentReturnTx: Type.Optional(txid('sends it home, once a node has it')),
});

/** Inputs of an order as they were sent: null or absent where they were not. */
const inputs = {
  receiveAddress: Type.Union([Type.String(), Type.Array(Type.String())], {
    description: 'one address, or one for each file',
  }),
  delegates: Type.Array(delegate),
  inscriptionIdPrefix: text('the ids begin with it'),
  allowedSatributes: Type.Array(Type.String()),
  additionalFee: sats('a file, for the referral account'),
  referral: text('referral code'),
  refundAddress: text('where money that no delivery uses goes'),
  projectTag: text('as it was sent'),
  webhookUrl: text('what happens is sent there'),
};
const managedInputs = {
  rareSats: sent('type of sats, as it was sent'),
  compress: Type.Union([Type.Boolean(), Type.String(), Type.Number()], { description: 'as it was sent' }),
  batchMode: sent('as it was sent'),
};
const terms = {
  fee: sent('sats for a virtual byte, as it was sent'),
  payToAnchor: Type.Boolean({ description: 'burnAfterInscribe' }),
  uncurseIt: Type.Boolean({ description: 'only what was not cursed before the jubilee' }),
};
const costs = {
  chainFee: sats('fees of all transactions'),
  serviceFee: sats('all else: postage, base fees and what comes with them'),
  baseFee: sats('a file'),
  rareSatsFee: Type.Optional(sats('a file, on a sat of the inventory')),
  additionalFeeCharged: sats('for all files, for the referral account'),
  postage: sats('a file'),
  priceHeldUntil: Type.Optional(
    moment('until then the price holds; what is paid later may be asked for more'),
  ),
};

const orNulls = (fields: Readonly<Record<string, TSchema>>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, orNull(schema)]));
const optionals = (fields: Readonly<Record<string, TSchema>>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]));

/** A file as its content is served; of a delegate there is nothing. */
const storedFile = {
  name: Type.Optional(text('with its extension')),
  size: Type.Optional(Type.Integer({ minimum: 0, description: 'bytes, as they are inscribed' })),
  type: Type.Optional(text('content type')),
  mimeType: Type.Optional(text('the same')),
  url: Type.Optional(text('serves the content')),
  s3Key: Type.Optional(text('its key in that URL')),
  nonStandardTx: Type.Optional(
    Type.Literal(true, { description: 'its reveal is above the weight that nodes relay' }),
  ),
};
const metadataSize = Type.Integer({ minimum: 0, description: 'bytes of its metadata in CBOR' });
const createdFile = strictObject(
  { ...storedFile, metadataSize: Type.Optional(orNull(metadataSize)) },
  'empty for a delegate',
);

const chargeAmount = sats('to pay');
const payHere = text('pay here');
/** The charge of a managed order: the fields of the payment service that its clients know. */
const managedCharge = {
  id: text('the id of the order'),
  description: Type.String(),
  desc_hash: Type.Literal(false),
  created_at: Type.Integer({ description: 'seconds since 1970' }),
  status: Type.Literal('unpaid', { description: 'for ever: read the state of the order' }),
  amount: chargeAmount,
  callback_url: Type.Literal(''),
  currency: Type.Literal('BTC'),
  source_fiat_value: sats('the amount'),
  fiat_value: Type.Optional(
    Type.Number({ minimum: 0, description: 'the amount in US dollars when it was made' }),
  ),
  auto_settle: Type.Literal(false),
  address: payHere,
  metadata: strictObject({}),
  chain_invoice: strictObject({ address: payHere }),
  hosted_checkout_url: text('the page of the order, with its id in the fragment'),
  uri: text('BIP 21'),
  ttl: Type.Integer({ minimum: 0, description: 'minutes within which the payment must be there' }),
};
const absentCharge = { success_url: Type.Null(), order_id: Type.Null(), notif_email: Type.Null() };

/** How the sats and the rune of an order are paid together. */
const tokenPayCharge = strictObject(
  {
    id: text('of its order of token payments: GET /tokenpay/order/<id>'),
    state: Type.Enum([...tokenOrderStates]),
    feeCharge: strictObject({ ...tokenOrder.properties.feeCharge.properties }, 'the sats of the order'),
    tokenCharge: strictObject({ ...tokenOrder.properties.tokenCharge.properties }, 'for the creator'),
    hosted_checkout_url: text('the page to pay both'),
    expiresAt: moment('end of the time to pay both'),
    refunds: text('what becomes of payments that are not used'),
  },
  'of a collection with a price in a rune: both charges are paid',
);

/** How a wallet pays: the way of a PSBT, beside the address. */
const psbtFeeRate = Type.Number({ description: 'sat/vB of the order: any other will do for the payment' });
const psbt = Type.Union(
  [
    strictObject({
      path: Type.Literal('/create-special-sats-psbt'),
      body: strictObject({
        chargeAmount: sats('what is missing'),
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
      'POST this body with the addresses and keys of a wallet to this path: it answers a PSBT that pays the order (docs/psbts.md); absent once nothing is missing',
  },
);

const created = {
  id: text('reads the order: keep it'),
  status: Type.Literal('ok'),
  state: Type.Literal('waiting-payment'),
  ...costs,
  files: Type.Array(createdFile),
  ...terms,
  ...(orNulls(inputs) as { readonly [Name in keyof typeof inputs]: TSchema }),
  parents: orNull(Type.Array(strictObject(sentParent))),
  zeroConf: Type.Null(),
  createdAt: strictObject({ '.sv': Type.Literal('timestamp') }, 'reads of the order have the time'),
  warnings: Type.Optional(warnings),
};

/** The answer to a creation of a direct order: the inputs, absent ones null, and what the service adds. */
export const createdDirect = strictObject({
  ...created,
  orderType: Type.Literal('direct'),
  charge: strictObject({ amount: chargeAmount }, 'its address is in the answer to GET /order'),
  rareSats: Type.Optional(text('type of sats of the inventory, as it was sent')),
});

/** The same of a managed order, with its whole charge. */
export const createdManaged = strictObject({
  ...created,
  orderType: Type.Literal('bulk'),
  charge: strictObject({ ...managedCharge, ...absentCharge }),
  psbt,
  rareSatsFee: sats('a file, on special sats'),
  ...(orNulls(managedInputs) as { readonly [Name in keyof typeof managedInputs]: TSchema }),
  parent: orNull(strictObject(sentParent, 'the only one of parents')),
});

const units = (description: string): TSchema =>
  Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: String.raw`^[0-9]+(\.[0-9]+)?$` })], {
    description: `${description}; a text where a number of JSON is not exact`,
  });
const window = (description: string): TSchema =>
  strictObject(
    { start: orNull(units('the first that may mint')), end: orNull(units('the first that is too late')) },
    description,
  );
/** The etching of an order, as it was asked for. */
const etchedRune = strictObject(
  {
    turbo: Type.Boolean({ description: 'it opts into changes of the protocol' }),
    rune: orNull(text('name with its spacers; null: ord gives it one')),
    supply: units('premine + cap × amount, in units of the rune'),
    symbol: orNull(text('one character')),
    divisibility: Type.Integer({ minimum: 0, maximum: 38, description: 'decimals' }),
    premine: units('what the receiver gets with the etching, in units of the rune'),
    cap: units('mints there may be'),
    amount: units('of one mint, in units of the rune'),
    offset: window('blocks after that of the etching'),
    height: window('heights of blocks'),
  },
  'what it etches',
);

/** The same of an order that etches a rune. */
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
  mintingTxs: Type.Array(txid('a mint that was sent'), { description: 'in their order' }),
  failedMints: Type.Array(txid('a mint that a block has, and that minted nothing'), {
    description: 'those of mintingTxs that were mined and not executed',
  }),
  refundedMints: Type.Integer({
    minimum: 0,
    description: 'mints that were not sent: their money goes back',
  }),
};

/** The same of an order of mints. */
export const createdMint = strictObject({
  ...createdManaged.properties,
  orderType: Type.Literal('rune-mint'),
  ...minted,
});

const price = sats('an item, for the creator of its collection');
const collection = strictObject(
  {
    id: text('of the collection'),
    count: Type.Integer({ minimum: 1, description: 'items' }),
    type: Type.Enum(['random', 'requested'], { description: 'how its items were chosen' }),
    items: Type.Array(Type.Integer({ minimum: 1 }), { description: 'their numbers, one a file' }),
  },
  'what its files are items of',
);
const collectionServiceFee = sats('an item, for the service');

/** The same of an order of items of a collection. */
export const createdCollectionOrder = strictObject({
  ...createdManaged.properties,
  charge: orNull(createdManaged.properties.charge),
  psbt: Type.Optional(psbt),
  tokenPayCharge: Type.Optional(tokenPayCharge),
  collection,
  collectionServiceFee,
  price,
  fileCount: Type.Integer({ minimum: 1, description: 'items' }),
  amount: chargeAmount,
});

const madeFile = (tx: Readonly<Record<string, TSchema>>): TSchema =>
  strictObject(
    {
      ...storedFile,
      metadataSize: Type.Optional(metadataSize),
      iqueued: flag('its reveal is stored'),
      iqueuedAt: Type.Optional(moment('since then')),
      processing: flag('its reveal is not deep enough yet'),
      completed: flag('it is inscribed, deep enough'),
      status: Type.Optional(
        Type.Enum(['queued', 'broadcast', 'inscribed'], {
          description: 'of its reveal: stored, sent, deep enough',
        }),
      ),
      error: Type.Optional(text('why the node does not take its reveal')),
      inscriptionId: Type.Optional(text('once its reveal was sent')),
      sent: Type.Optional(txid('its reveal, once it was sent')),
      tx: Type.Optional(strictObject(tx, 'once its reveal was sent')),
    },
    'the fields of its content, none for a delegate, and its progress',
  );

const fileTx = {
  inscription: text('id of the inscription'),
  reveal: txid('inscribes it'),
  burn: Type.Optional(txid('burns it')),
  totalFees: sats('fee of the reveal'),
  updatedAt: moment('when it was sent'),
};
const managedFileTx = {
  ...fileTx,
  commit: Type.Optional(txid('pays for all reveals')),
  fees: sats('fee of the reveal'),
  total_fees: sats('the same'),
  inscriptions: Type.Array(Type.String()),
  reveals: Type.Array(Type.String()),
  satpoint: text('of the inscribed sat: <txid>:<vout>:<offset>'),
};

const refund = strictObject({
  address: text('where it went'),
  amount: sats('sent back'),
  txid: txid('that sent it'),
});

/** Fields of an order as it is read. Those without a value are absent (docs/orders.md, "States"). */
const read = {
  id: text('reads the order'),
  status: Type.Literal('ok'),
  state: Type.Enum([...orderStates], { description: 'docs/orders.md, "States"' }),
  createdAt: moment('when it was made'),
  expiresAt: moment('end of the time to pay'),
  ...costs,
  ...terms,
  ...(optionals(inputs) as { readonly [Name in keyof typeof inputs]: TSchema }),
  rareSats: Type.Optional(sent('type of sats, as it was sent')),
  parents: Type.Optional(Type.Array(parent)),
  psbt: Type.Optional(psbt),
  paid: flag('the amount is there, deep enough'),
  paidAt: Type.Optional(moment('since then')),
  processing: flag('paid, and not completed yet'),
  completed: flag('all its inscriptions are deep enough'),
  expired: flag('its time is over'),
  received: Type.Optional(sats('what was seen at its address, whether it counts or not')),
  underpaid: flag('something was paid, and more is missing'),
  missing: Type.Optional(sats('what one more payment must bring')),
  overpaid: flag('more was paid than the amount'),
  repriced: Type.Optional(
    strictObject(
      {
        amount: sats('the difference that is asked for'),
        before: sats('the amount of the charge before'),
        from: Type.Number({ description: 'sat/vB: the estimate when the price was made' }),
        to: Type.Number({ description: 'sat/vB: the estimate when the payment was seen' }),
        fee: Type.Number({ description: 'sat/vB that the transactions pay now' }),
        until: moment('end of the time to pay it'),
      },
      'a late payment, after a rise of fees: pay `missing`, or cancel the order',
    ),
  ),
  inscribedCount: Type.Optional(
    Type.Integer({ minimum: 1, description: 'inscriptions, once it is completed' }),
  ),
  error: Type.Optional(text('why it does not continue')),
  refund: Type.Optional(
    strictObject({ ...refund.properties }, 'all that was sent back, and the newest transaction'),
  ),
  refunds: Type.Optional(Type.Array(refund, { description: 'each, where there are several' })),
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
    price: sats('a file, for the creator of a collection'),
    fileCount: Type.Integer({ minimum: 1, description: 'inscriptions' }),
    collection: Type.Optional(collection),
    collectionServiceFee: Type.Optional(collectionServiceFee),
    rareSatsFee: sats('a file, on special sats'),
    processingAt: Type.Optional(moment('when its first transaction was stored')),
    tx: Type.Optional(strictObject(managedFileTx, 'of an order of one file: that of the file')),
    sent: Type.Optional(txid('of an order of one file: its reveal, once it was sent')),
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
        { commit: txid('claims the name'), reveal: Type.Optional(txid('etches it, once it was sent')) },
        'once its commit was sent',
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

/** An order as clients read it: which fields it has depends on its type and its state. */
export const order = Type.Union([directOrder, managedOrder, etchingOrder, mintOrder], {
  description: 'an order: fields without a value are absent (docs/orders.md, "Orders")',
});
