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
  address: Type.String({ description: 'where it goes' }),
};

const priceFields = {
  chainFee: Type.Integer({ description: 'sats that are charged for the miner; they never change' }),
  postage: Type.Integer({ description: 'sats beneath the runes; 0 for BTC' }),
  payer: Type.Union(
    withdrawalPayers.map((payer) => Type.Literal(payer)),
    {
      description:
        'who pays both: the BTC balance of the account, what is withdrawn, or the operator of the service',
    },
  ),
  received: Type.Number({ description: 'display units that the address gets' }),
  receivedBase: Type.String({ description: 'the same in base units' }),
};

/** A withdrawal (interface 2.7, client-compat 3.14). */
export const withdrawal = Type.Object({
  id: Type.String({ format: 'uuid' }),
  createdAt: milliseconds('its creation'),
  ...askedFields,
  state: Type.Union(withdrawalStates.map((state) => Type.Literal(state))),
  txid: nullable('the transaction that may be mined, or is'),
  chainFee: Type.Union([Type.Integer(), Type.Null()], {
    description: 'sats that it was charged; null: no transaction is signed',
  }),
  tries: Type.Integer({ description: 'transactions that were signed for it: each but the first pays more' }),
  processingAt: Type.Union([Type.Integer(), Type.Null()], {
    description: 'when the first one was signed, ms since 1970',
  }),
  feePerByte: Type.Union([Type.Number(), Type.Null()], {
    description: 'sats per virtual byte that its transaction pays',
  }),
  reason: nullable('why it waits, or why it ended'),
  price: Type.Object(priceFields),
});

export const createdWithdrawal = Type.Object({
  ...withdrawal.properties,
  webhookSecretToken: Type.Optional(
    Type.String({ description: 'with webhookUrl alone: the field of the same name in each webhook' }),
  ),
});

/** The answer of a dry run. */
export const dryRun = Type.Object({
  dryRun: Type.Literal(true),
  ...askedFields,
  price: Type.Object({
    ...priceFields,
    debt: Type.Integer({ description: 'sats that the account would owe' }),
  }),
});

const examples: Examples = {
  coins: {
    summary: 'What a withdrawal of half a coin would cost',
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
    protocol: accepted('of the token', { type: 'string', enum: [...tokenProtocols] }),
    token: accepted('`BTC`, or the name of a rune', { type: 'string' }),
    amount: accepted('display units, BTC in coins, as a number or in digits: nothing is rounded', {
      anyOf: [{ type: 'number', exclusiveMinimum: 0 }, { type: 'string' }],
    }),
    address: accepted('where it goes', { type: 'string' }),
    feeRate: accepted(
      'sats per virtual byte, from 0.1 to 200, or bitcoins for 1,000 virtual bytes from 0.00001 to 0.002; absent: what the node says',
      { anyOf: [{ type: 'number', minimum: 0 }, { type: 'string' }] },
    ),
    feeFrom: accepted('of BTC: what the fee is taken from', { type: 'string', enum: [...feeSources] }),
    dryRun: accepted('whether nothing is stored, and the answer is the price', { type: 'boolean' }),
    webhookUrl: accepted('gets each change', { type: 'string' }),
  },
  'what an account takes out (docs/tokenpay.md, "Withdrawals"); other fields are ignored',
  examples,
);
