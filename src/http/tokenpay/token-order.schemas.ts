import { Type } from 'typebox';
import { accepted, creationBody, type Examples } from '#http/orders/order-body.schemas.ts';
import { chargeStates, tokenOrderStates } from '#tokenpay/order/charge-state.ts';
import { chargeKinds } from '#tokenpay/order/token-order.ts';

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const milliseconds = (description: string) => Type.Integer({ description: `${description}, ms since 1970` });

const chargeFields = {
  address: Type.String({ description: 'the address to pay' }),
  state: Type.Union(chargeStates.map((state) => Type.Literal(state))),
  txid: nullable('the first payment of this charge that was seen'),
  createdAt: milliseconds('time of its creation'),
};

const receivedToken = Type.Object({
  token: Type.String({
    description:
      'the rune, with spacers; `NAME (etching <txid>)`: a different rune with the same name as the order’s',
  }),
  protocol: Type.Literal('rune'),
  amount: Type.Number({ description: 'display units, all digits' }),
  amountBase: Type.String({ description: 'base units' }),
});

const received = Type.Object({
  txid: Type.String(),
  vout: Type.Integer(),
  charge: Type.Union(
    chargeKinds.map((kind) => Type.Literal(kind)),
    { description: 'the address of the order that it paid' },
  ),
  height: Type.Integer({ description: 'height of its block' }),
  sats: Type.Integer(),
  tokens: Type.Array(receivedToken),
  isAside: Type.Boolean({
    description:
      'true: it contains an inscription or a special sat, so it is not credited, and the operator can return it',
  }),
});

/** An order of a shop (interface 2.6). */
export const tokenOrder = Type.Object({
  id: Type.String({ format: 'uuid' }),
  createdAt: milliseconds('its creation'),
  accountId: Type.String({ description: 'the account that made the order and gets its payments' }),
  feeCharge: Type.Object({
    amount: Type.Integer({ description: 'sats' }),
    token: Type.Literal('BTC'),
    ...chargeFields,
    protocol: Type.Literal('bitcoin'),
    additionalFee: Type.Integer({ description: 'the part of these sats that the account gets' }),
  }),
  tokenCharge: Type.Object({
    amount: Type.Number({ description: 'display units, all digits' }),
    amountBase: Type.String({ description: 'base units' }),
    token: Type.String({ description: 'the rune, with spacers' }),
    ...chargeFields,
    protocol: Type.Literal('rune'),
    additionalFee: Type.Literal(0),
  }),
  webhookUrl: nullable('URL that receives each change'),
  successUrl: nullable('URL to which the checkout leads once the order is completed'),
  state: Type.Union(tokenOrderStates.map((state) => Type.Literal(state))),
  description: nullable('the text that the shop sent'),
  expiresAt: milliseconds('end of the time to pay: payments that are first seen later do not count'),
  received: Type.Array(received, { description: 'confirmed payments, in the order of the chain' }),
});

export const createdTokenOrder = Type.Object({
  ...tokenOrder.properties,
  webhookSecretToken: Type.Optional(
    Type.String({ description: 'only with webhookUrl: the field of the same name in each webhook' }),
  ),
});

const amountBody = accepted('display units, as a number or in digits: nothing is rounded', {
  anyOf: [{ type: 'number', exclusiveMinimum: 0 }, { type: 'string' }],
});

const examples: Examples = {
  rune: {
    summary: 'An order of a shop for two and a half units, with a webhook',
    value: {
      token: 'UNCOMMON•GOODS',
      amount: 2.5,
      additionalFee: 100,
      description: 'A pair of socks',
      webhookUrl: 'https://shop.example/hooks/runes?token=1',
    },
  },
};

export const tokenOrderBody = creationBody(
  {
    token: accepted('the name of a rune, with or without spacers', { type: 'string' }),
    amount: amountBody,
    additionalFee: accepted('additional sats that the customer pays to the account', {
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', pattern: '^[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,2})?$' },
      ],
    }),
    description: accepted('at most 1,000 characters', { type: 'string' }),
    webhookUrl: accepted('URL that receives each change', { type: 'string' }),
    successUrl: accepted('an http or https URL to which the checkout leads', { type: 'string' }),
  },
  'the amount that a shop asks for (docs/tokenpay.md); other fields are ignored',
  examples,
  ['token', 'amount'],
);

const balance = (description: string) =>
  Type.Record(Type.String(), Type.Number({ description: 'display units, all digits' }), { description });

const baseBalance = (description: string) =>
  Type.Record(Type.String(), Type.String({ description: 'base units, in digits' }), { description });

const eachBalance = (description: string) =>
  Type.Object(
    { bitcoin: balance('BTC in coins'), rune: balance('runes by their names with spacers') },
    { description },
  );

const eachBaseBalance = (description: string) =>
  Type.Object(
    { bitcoin: baseBalance('BTC in sats'), rune: baseBalance('runes by their names with spacers') },
    { description },
  );

export const accountBalance = Type.Object({
  bitcoin: balance(
    'BTC in coins; below 0 after a reorganisation undid payments that had already left the account',
  ),
  rune: balance('runes by their names with spacers'),
  amountBase: eachBaseBalance(
    'the same balances in base units, exact also for clients with double-precision numbers',
  ),
  reserved: eachBalance('amounts of open withdrawals, which are still in the balance'),
  reservedBase: eachBaseBalance('the same in base units'),
  available: eachBalance('the balance without reserved amounts; BTC is below 0 if the account owes fees'),
  availableBase: eachBaseBalance('the same in base units'),
});
