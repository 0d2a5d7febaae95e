import { type Static, Type } from 'typebox';
import { inventoryTypes } from '#inventory/inventory-types.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { satributeId } from '#kernel/satributes/definitions.ts';
import { parseConfirmations } from '#orders/order/order-policy.ts';
import { parseTokenPolicy } from '#tokenpay/order/token-policy.ts';

/** Settings of orders, and of messages about orders to other systems. They are part of the schema of all settings. */
export const orderSettings = {
  walletSeedFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      flag: 'seed-file',
      description:
        'file with the BIP 39 words of the wallet of orders, mode 0600, owned by the user that runs this program; `satscribe wallet init` creates it; unset: nothing is signed (docs/wallet.md)',
    }),
  ),
  walletMarkFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      flag: 'mark-file',
      description:
        'file with the index up to which addresses of the wallet were released, on a lasting volume that is not restored with the database; unset: WALLET_SEED_FILE with `.mark` at its end (docs/wallet.md, "The high-water mark")',
    }),
  ),
  serviceSecretFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'file with the 32 random bytes from which the keys of webhooks are derived, the same for all processes, mode 0600; created if it is missing; unset: `service-secret` in DATA_DIR (docs/webhooks.md)',
    }),
  ),
  serviceSecretOldFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'the earlier SERVICE_SECRET_FILE during a change of it: webhooks are signed with the keys of both (docs/webhooks.md, "The secret")',
    }),
  ),
  orderBaseFee: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 9000,
    description: 'sats that the service takes for each file of a managed order (docs/orders-api.md)',
  }),
  orderBaseFeeDirect: Type.Integer({
    // Below this value, our output of a reveal would be an anchor, which anyone may spend, together with the sats that
    // a customer overpaid.
    minimum: 330,
    maximum: 100_000_000,
    default: 2000,
    description:
      'sats that the service takes for each file of a direct order; 330 are the least that an output can hold',
  }),
  orderSizeFeePercent: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 10,
    description: 'percentage of the chain fee that the service takes in addition, of managed orders',
  }),
  collectionServiceFee: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 0,
    description: 'sats that the service takes for each file of a collection, in addition to the base fee',
  }),
  referralPercent: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 15,
    description:
      'percentage of its base fee that the referral of a delivered order gets, as set when the order was made (docs/orders-api.md, "Referrals")',
  }),
  allowPrivateUrls: Type.Boolean({
    default: false,
    description:
      'URLs that clients name, such as those of webhooks, may lead to any address and port, also of this machine and its network: for tests',
  }),
  filesDir: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'folder of the files that customers order, shared by all processes; unset: `files` in DATA_DIR',
    }),
  ),
  fxRatesFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'JSON file with prices of coins in US dollars that a program of the operator writes, `{"bitcoin": {"usd": 91234.5}}`; charges of managed orders show dollars from it (docs/orders-api.md, "Amounts in dollars"); read again when it changes; unset: no dollars are shown',
    }),
  ),
  orderTimeoutMinutes: Type.Integer({
    minimum: 10,
    maximum: 43_200,
    default: 4320,
    description:
      'how long an order without a `timeout` can be paid: a payment that is first seen later is late',
  }),
  orderConfirmations: Type.String({
    pattern: '^[0-9]{1,16}:[0-9]{1,3}(,[0-9]{1,16}:[0-9]{1,3})*$',
    maxLength: 1024,
    default: '0:1,10000000:2,100000000:3',
    description:
      'confirmations that payments of an order need before they are spent, as `sats:confirmations` for orders of at least that amount',
  }),
  orderFinalConfirmations: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'confirmations of the reveals after which an order is completed',
  }),
  payoutConfirmations: Type.Integer({
    // the minimum on regtest; on other networks it is `payoutConfirmationsLeast`
    minimum: 1,
    // ten weeks; partners should not have to wait longer for their shares
    maximum: 10_000,
    // the depth that coins of a coinbase need (COINBASE_MATURITY); no reorganisation was ever this deep
    default: 100,
    description:
      'confirmations that a delivery needs before `satscribe payouts` pays the shares of its referral and its creator, and a coin before it is paid out as revenue; at least 6 on all networks except regtest',
  }),
  quoteHoldMinutes: Type.Integer({
    minimum: 1,
    // the maximum timeout of an order
    maximum: 43_200,
    default: 60,
    description:
      'how long the price of an order holds: a payment that is first seen later must add the difference if fees rose (docs/orders-api.md, "How long a price holds")',
  }),
  orderBumpMaxSats: Type.Integer({
    minimum: 0,
    // the maximum that the signer signs (bumpFeeMax)
    maximum: 1_000_000,
    default: 20_000,
    description:
      'sats of the service by which the fees of one order may rise until it is mined, fewer if it earns little (docs/orders-operator.md, "Stuck transactions"); 0: nothing is paid',
  }),
  orderBumpDayMaxSats: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 200_000,
    description:
      'sats of the service by which the fees of all orders together may rise within 24 hours; 0: nothing is paid',
  }),
  orderBumpRevenuePercent: Type.Integer({
    minimum: 0,
    maximum: 1000,
    default: 50,
    description:
      'percentage of the revenue of the last 30 days by which the fees of all orders together may rise in that time, plus 100,000 sats',
  }),
  orderReturnMaxSats: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    // the fee of a return of one inscription (220 virtual bytes) at 22 sat/vB, or of several returns at usual rates
    default: 5_000,
    description:
      'sats of the service that the return of outputs with inscriptions or runes may cost, for one order whose customer left no money for it; for outputs that are not parents, as many sats of the customer\'s (docs/orders-api.md, "What is returned"); 0: nothing is paid',
  }),
  orderReturnDayMaxSats: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 50_000,
    description:
      'sats of the service that such returns of all orders together may cost within 24 hours; 0: nothing is paid',
  }),
  orderBumpAfterMinutes: Type.Integer({
    minimum: 0,
    maximum: 20_160,
    default: 60,
    description:
      'how long a transaction of an order waits before its fee is raised, and before the higher fee is raised again',
  }),
  orderBumpWithinBlocks: Type.Integer({
    // the range that estimatesmartfee accepts
    minimum: 1,
    maximum: 1008,
    default: 6,
    description:
      "number of blocks within which refunds, and transactions with a raised fee, should be mined: the node's estimate for it is paid",
  }),
  nonstandardMinerUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^@?#]+$',
      maxLength: 4096,
      secret: true,
      description:
        'a miner that takes reveals above 400,000 weight units, which nodes do not relay, by the protocol of docs/miner.md; it may be in a private network. Unset: such files are refused',
    }),
  ),
  nonstandardMinerHours: Type.Integer({
    minimum: 1,
    // two weeks, because nodes keep unconfirmed transactions, such as the commit, for this time (-mempoolexpiry)
    maximum: 336,
    // 144 blocks; a miner with 1 % of the hash rate finds one of them with a probability of three quarters
    default: 24,
    description:
      'how long that miner may not answer about a transaction, and then how long no block may have it, before the order is refunded',
  }),
  orderRate: Type.String({
    pattern: '^[0-9]{1,9}(/[0-9]{1,9})?$',
    maxLength: 16,
    default: '2/10',
    description:
      'orders that one address without a key can make, in the form of SEARCH_ADDRESS_RATE; 0: no limit, neither for reads of orders nor for prices',
  }),
  orderReservedMax: Type.Integer({
    minimum: 1,
    // no inventory has more outputs
    maximum: 2_000,
    default: 3,
    description:
      'sats of the inventory that unpaid orders of one address may reserve, one for each file (docs/orders-api.md, "Sats of the inventory")',
  }),
  tokenpayBaseFee: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 9000,
    description:
      'sats that the service takes for an order of a shop that is paid in runes (docs/tokenpay.md)',
  }),
  tokenpayConfirmations: Type.String({
    pattern: '^(?:[1-9][0-9]?|100)(?:,[A-Z•.]{1,60}:(?:[1-9][0-9]?|100))*$',
    // a block is replaced a few times a year; two consecutive blocks were not replaced for many years
    default: '2',
    examples: ['2,DOG•GO•TO•THE•MOON:6'],
    description:
      'confirmations with which payments of shops’ orders are credited, and those of outputs with certain runes (docs/tokenpay.md)',
  }),
  tokenpaySpecialSats: Type.String({
    pattern: '^(?:none|[A-Za-z0-9_-]{1,40}(?:,[A-Za-z0-9_-]{1,40})*)$',
    maxLength: 2_000,
    // the types that orders can name, and all types that are rarer than uncommon
    default: [...inventoryTypes, 'rare', 'epic', 'legendary', 'mythic'].join(','),
    description:
      'satributes of sats that are more than money: an output with such a sat is set aside in token payments, and nothing of it is credited; needs INDEX_SATS; none: no sats are looked at (docs/tokenpay.md, "Set aside")',
  }),
  withdrawFeePayer: Type.Enum(['account', 'operator'], {
    default: 'account',
    description:
      'who pays the miner and the sats beneath runes of withdrawals from accounts: the account, or the operator (docs/tokenpay.md, "Withdrawals")',
  }),
  withdrawDebtMaxSats: Type.Integer({
    minimum: 0,
    maximum: 10_000_000,
    // The price of a withdrawal of runes at 25 sats per virtual byte. An account that never received BTC can pay it
    // later.
    default: 10_000,
    description: 'sats that an account may owe for withdrawals of runes that its BTC does not cover',
  }),
  withdrawInputsMax: Type.Integer({
    minimum: 1,
    // with 500 withdrawals of one or two outputs each, a batch is still small enough to be relayed
    maximum: 500,
    default: 100,
    description: 'most outputs that one withdrawal spends; its account pays for each of them',
  }),
  withdrawBumpMaxSats: Type.Integer({
    minimum: 0,
    maximum: 10_000_000,
    default: 20_000,
    description:
      'sats that the transaction of a batch of withdrawals may cost in addition to the charges of its accounts, if it waits too long',
  }),
  consolidateDailySats: Type.Integer({
    minimum: 0,
    // a tenth of a bitcoin; all dust of a service costs less
    maximum: 10_000_000,
    default: 0,
    examples: [20_000],
    description:
      'sats that the service pays within 24 hours to join small outputs of accounts into one (docs/tokenpay.md, "Consolidation"); 0: nothing is joined',
  }),
  consolidateFeeRateMax: Type.Integer({
    minimum: 1,
    // above 9 sats per vbyte, spending an output of 546 sats costs more than its value
    maximum: 50,
    default: 2,
    description:
      'highest rate, in sats per virtual byte, at which small outputs of accounts are joined: outputs that would cost more than they bring at ten times that rate',
  }),
  tokenpayTestPay: Type.Integer({
    minimum: 0,
    // a bitcoin; a hundredth of this is as much as faucets of test networks give in weeks
    maximum: 100_000_000,
    default: 0,
    examples: [500_000],
    description:
      'sats that test payments of one account may take within 24 hours, from a wallet for tests that the operator fills (docs/tokenpay.md, "Test payments"); 0: no test payments; on mainnet only 0 is valid',
  }),
  collectionUnpaidMax: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    // a family buys a few items for itself; a shop should use a key
    default: 10,
    description: 'items of collections that unpaid orders of one address may have (docs/collections.md)',
  }),
  collectionUnpaidNetworkMax: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    // the owner of a /24 has 256 addresses for the price of one
    default: 50,
    description: 'the same for all addresses of one network together (/24 of IPv4, /48 of IPv6)',
  }),
  turnstileSecret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'secret of Turnstile, which checks the tokens of orders of collections without a key; unset: any token is accepted',
    }),
  ),
  turnstileSiteKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[A-Za-z0-9_-]+$',
      description:
        'site key of Turnstile for that secret: the pages /mint/<slug> show its challenge; unset: no one can order there while TURNSTILE_SECRET is set',
    }),
  ),
  turnstileUrl: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'where tokens are checked; unset: at Turnstile',
    }),
  ),
  orderMegabytesADay: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 500,
    description:
      'MB that orders of one address may store in a day, in each process: contents, leaves, shown data, and 4 kB for each order and file (docs/orders-api.md, "Contents"); 0: no limit',
  }),
  uploadMegabytesADay: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    // enough for a collection of 10,000 pictures of 500 kB; the operator knows whose key it is
    default: 5_000,
    description:
      'MB that one key may upload in a day (`PUT /files/<name>`), in each process: contents, and 4 kB for each (docs/orders-api.md, "Uploads"); 0: no limit',
  }),
};

const schema = Type.Object(orderSettings);

/** The satributes that TOKENPAY_SPECIAL_SATS names, in their original spelling. */
export const specialSatsOf = (text: string): readonly string[] => (text === 'none' ? [] : text.split(','));

const unknownSatributes = (text: string): string[] =>
  specialSatsOf(text).filter((name) => satributeId(name) === null);

/** Finds faults of these settings that their schema cannot check. */
export function wrongOrderSettings({
  orderConfirmations,
  tokenpayConfirmations,
  tokenpaySpecialSats,
  nonstandardMinerUrl,
  payoutConfirmations,
  tokenpayTestPay,
  network,
}: Pick<
  Static<typeof schema>,
  | 'orderConfirmations'
  | 'tokenpayConfirmations'
  | 'tokenpaySpecialSats'
  | 'nonstandardMinerUrl'
  | 'payoutConfirmations'
  | 'tokenpayTestPay'
> & {
  readonly network?: NetworkName;
}): string[] {
  const isUrl = nonstandardMinerUrl === undefined || URL.canParse(nonstandardMinerUrl);
  return [
    ...(parseConfirmations(orderConfirmations) === null
      ? [`ORDER_CONFIRMATIONS: the amounts of ${orderConfirmations} do not ascend`]
      : []),
    ...(parseTokenPolicy(tokenpayConfirmations) === null
      ? [`TOKENPAY_CONFIRMATIONS: ${tokenpayConfirmations} has a rune twice, or a name that is not a rune`]
      : []),
    ...unknownSatributes(tokenpaySpecialSats).map(
      (name) => `TOKENPAY_SPECIAL_SATS: ${name} is not a satribute (docs/satributes.md)`,
    ),
    ...(isUrl ? [] : ['NONSTANDARD_MINER_URL: it is not a URL']),
    ...(network === undefined
      ? []
      : [
          ...wrongPayoutConfirmations({ payoutConfirmations }, network),
          ...wrongTestPay({ tokenpayTestPay }, network),
        ]),
  ];
}

/**
 * Minimum of PAYOUT_CONFIRMATIONS. Reorganisations of a few blocks are common, and waiting for them costs nothing. If a
 * reorganisation removes a delivery after its share was paid, the partner owes the share, but no one can collect this
 * debt.
 */
const payoutConfirmationsLeast = 6;

/**
 * The faults of PAYOUT_CONFIRMATIONS on a network. Usually the network becomes known only from the node or the
 * database, so this is checked later.
 */
export function wrongPayoutConfirmations(
  { payoutConfirmations: confirmations }: Pick<Static<typeof schema>, 'payoutConfirmations'>,
  network: NetworkName,
): string[] {
  if (network === 'regtest' || confirmations >= payoutConfirmationsLeast) return [];
  return [
    `PAYOUT_CONFIRMATIONS: ${confirmations} is not valid on ${network}: it must be at least ${payoutConfirmationsLeast}, because shorter reorganisations are common, and shares that were paid for a delivery that one takes back cannot be collected`,
  ];
}

/**
 * The faults of TOKENPAY_TEST_PAY on a network. Usually the network becomes known only from the node or the database,
 * so this is checked later.
 */
export function wrongTestPay(
  { tokenpayTestPay }: Pick<Static<typeof schema>, 'tokenpayTestPay'>,
  network: NetworkName,
): string[] {
  if (network !== 'mainnet' || tokenpayTestPay === 0) return [];
  return ['TOKENPAY_TEST_PAY: there are no test payments on mainnet: leave it out'];
}
