import { Type } from 'typebox';
import { accepted, creationBody, type Examples } from '#http/orders/order-body.schemas.ts';
import { tokenProtocols } from '#tokenpay/telling/token-order-answer.ts';
import { feeSources } from '#tokenpay/withdrawing/read-withdrawal.ts';
import { withdrawalPayers, withdrawalStates } from '#tokenpay/withdrawing/withdrawal.ts';

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const milliseconds = (description: string) => Type.Integer({ description: `${description}, ms since 1970` });

const askedFields = {
  accountId: Type.String({ description: 'the account of the key' }),
  protocol: Type.Union(tokenProtocols.map((protocol) => Type.Literal(protocol))),
  token: Type.String({ description: '`BTC`, or the rune with spacers' }),
  amount: Type.Number({ description: 'display units, BTC in coins; all digits' }),
  amountBase: Type.String({ description: 'base units, BTC in sats' }),
  address: Type.String({ description: 'address that gets it' }),
};

const priceFields = {
  chainFee: Type.Integer({ description: 'sats charged for the miner’s fee; the charge never changes' }),
  postage: Type.Integer({ description: 'sats of the output with the runes; 0 for BTC' }),
  payer: Type.Union(
    withdrawalPayers.map((payer) => Type.Literal(payer)),
    {
      description:
        'what pays both: the BTC balance of the account, the withdrawn amount, or the operator of the service',
    },
  ),
  received: Type.Number({ description: 'display units that the address gets' }),
  receivedBase: Type.String({ description: 'the same in base units' }),
};

/** A withdrawal (interface 2.7, client-compat 3.14). */
export const withdrawal = Type.Object({
  id: Type.String({ format: 'uuid' }),
  createdAt: milliseconds('time of its creation'),
  ...askedFields,
  state: Type.Union(withdrawalStates.map((state) => Type.Literal(state))),
  txid: nullable('its transaction: the mined one, or the one that may be mined'),
  chainFee: Type.Union([Type.Integer(), Type.Null()], {
    description: 'sats that the withdrawal was charged; null: no transaction is signed',
  }),
  tries: Type.Integer({
    description: 'number of transactions that were signed for it; each pays more than the one before',
  }),
  processingAt: Type.Union([Type.Integer(), Type.Null()], {
    description: 'time when the first transaction was signed, ms since 1970',
  }),
  feePerByte: Type.Union([Type.Number(), Type.Null()], {
    description: 'sats per virtual byte that its transaction pays',
  }),
  reason: nullable('why the withdrawal waits, or why it ended'),
  price: Type.Object(priceFields),
});

export const createdWithdrawal = Type.Object({
  ...withdrawal.properties,
  webhookSecretToken: Type.Optional(
    Type.String({ description: 'only with webhookUrl: the field of the same name in each webhook' }),
  ),
});

/** The answer of a dry run. */
export const dryRun = Type.Object({
  dryRun: Type.Literal(true),
  ...askedFields,
  price: Type.Object({
    ...priceFields,
    debt: Type.Integer({ description: 'sats that the account would owe afterwards' }),
  }),
});

const examples: Examples = {
  coins: {
    summary: 'The cost of a withdrawal of half a coin',
    value: {
      protocol: 'bitcoin',
      token: 'BTC',
      amount: 0.5,
      address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
      dryRun: true,
    },
  },
};

export const withdrawalBody = creationBody(
  {
    protocol: accepted('protocol of the token', { type: 'string', enum: [...tokenProtocols] }),
    token: accepted('`BTC`, or the name of a rune', { type: 'string' }),
    amount: accepted('display units, BTC in coins, as a number or in digits: nothing is rounded', {
      anyOf: [{ type: 'number', exclusiveMinimum: 0 }, { type: 'string' }],
    }),
    address: accepted('address that gets it', { type: 'string' }),
    feeRate: accepted(
      'sats per virtual byte, from 0.1 to 200, or bitcoins per 1,000 virtual bytes, from 0.00001 to 0.002; absent: the estimate of the node',
      { anyOf: [{ type: 'number', minimum: 0 }, { type: 'string' }] },
    ),
    feeFrom: accepted('only for BTC: the amount from which the fee is taken', {
      type: 'string',
      enum: [...feeSources],
    }),
    dryRun: accepted('true: nothing is stored, and the answer is the price', { type: 'boolean' }),
    webhookUrl: accepted('URL that receives each change', { type: 'string' }),
  },
  'a withdrawal of an account (docs/tokenpay.md, "Withdrawals"); other fields are ignored',
  examples,
);
