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
        'file with the BIP 39 words of the wallet of orders, created by `satscribe wallet init`; mode 0600, owned by the user that runs this program; unset: nothing is signed (docs/wallet.md)',
    }),
  ),
  walletMarkFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      flag: 'mark-file',
      description:
        'file with the index up to which addresses of the wallet were released, on a permanent volume that is never restored with the database; unset: the path of WALLET_SEED_FILE with `.mark` added (docs/wallet.md, "The high-water mark")',
    }),
  ),
  serviceSecretFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'file with 32 random bytes, from which the keys of webhooks are derived; mode 0600, the same file for all processes; created if it is missing; unset: `service-secret` in DATA_DIR (docs/webhooks.md)',
    }),
  ),
  serviceSecretOldFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'the old SERVICE_SECRET_FILE while the secret is being changed: webhooks are signed with the keys of both secrets (docs/webhooks.md, "The secret")',
    }),
  ),
  orderBaseFee: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 9000,
    description: 'fee of the service for each file of a managed order, in sats (docs/orders-api.md)',
  }),
  orderBaseFeeDirect: Type.Integer({
    // Below this value, our output of a reveal would be an anchor, which anyone may spend, together with the sats that
    // a customer overpaid.
    minimum: 330,
    maximum: 100_000_000,
    default: 2000,
    description:
      'fee of the service for each file of a direct order, in sats; at least 330, the minimum value of an output',
  }),
  orderSizeFeePercent: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 10,
    description: 'additional fee of the service for managed orders, as a percentage of the chain fee',
  }),
  collectionServiceFee: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 0,
    description: 'fee of the service for each file of a collection, in sats, in addition to the base fee',
  }),
  referralPercent: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 15,
    description:
      'share of the base fee that the referral of a delivered order gets, in percent; the value at the time of the order applies (docs/orders-api.md, "Referrals")',
  }),
  allowPrivateUrls: Type.Boolean({
    default: false,
    description:
      'whether URLs of clients, such as URLs of webhooks, may lead to any IP address and port, including this machine and its network; only for tests',
  }),
  filesDir: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'folder for the files of orders, shared by all processes; unset: `files` in DATA_DIR',
    }),
  ),
  fxRatesFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'JSON file with prices of coins in US dollars, `{"bitcoin": {"usd": 91234.5}}`, written by a program of the operator and read again when it changes. Charges of managed orders then show dollars (docs/orders-api.md, "Amounts in dollars"); unset: no dollars are shown',
    }),
  ),
  orderTimeoutMinutes: Type.Integer({
    minimum: 10,
    maximum: 43_200,
    default: 4320,
    description:
      'how long an order without a `timeout` can be paid; a payment that is first seen later is late',
  }),
  orderConfirmations: Type.String({
    pattern: '^[0-9]{1,16}:[0-9]{1,3}(,[0-9]{1,16}:[0-9]{1,3})*$',
    maxLength: 1024,
    default: '0:1,10000000:2,100000000:3',
    description:
      'number of confirmations that payments of an order need before they are spent, as `sats:confirmations` for orders of at least that amount',
  }),
  orderFinalConfirmations: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'number of confirmations of the reveals after which an order is completed',
  }),
  payoutConfirmations: Type.Integer({
    // the minimum on regtest; on other networks it is `payoutConfirmationsLeast`
    minimum: 1,
    // ten weeks; partners should not have to wait longer for their shares
    maximum: 10_000,
    // the depth that coins of a coinbase need (COINBASE_MATURITY); no reorganisation was ever this deep
    default: 100,
    description:
      'number of confirmations that a delivery needs before `satscribe payouts` pays the shares of its referral and its creator, and that a coin needs before it can be paid out as revenue; at least 6 on all networks except regtest',
  }),
  quoteHoldMinutes: Type.Integer({
    minimum: 1,
    // the maximum timeout of an order
    maximum: 43_200,
    default: 60,
    description:
      'how long the price of an order is valid; if a payment is first seen later and fees rose, the customer must pay the difference (docs/orders-api.md, "How long a price holds")',
  }),
  orderBumpMaxSats: Type.Integer({
    minimum: 0,
    // the maximum that the signer signs (bumpFeeMax)
    maximum: 1_000_000,
    default: 20_000,
    description:
      'sats of the service that may be added to the fees of one order until it is mined; less if the order earns little (docs/orders-operator.md, "Stuck transactions"); 0: nothing is added',
  }),
  orderBumpDayMaxSats: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 200_000,
    description:
      'sats of the service that may be added to the fees of all orders together within 24 hours; 0: nothing is added',
  }),
  orderBumpRevenuePercent: Type.Integer({
    minimum: 0,
    maximum: 1000,
    default: 50,
    description:
      'percentage of the revenue of the last 30 days that may be added to the fees of all orders together in this time; 100,000 sats more are always allowed',
  }),
  orderReturnMaxSats: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    // the fee of a return of one inscription (220 virtual bytes) at 22 sat/vB, or of several returns at usual rates
    default: 5_000,
    description:
      'maximum number of sats that the service pays for the return of outputs with inscriptions or runes, for one order whose customer left no money for it; also the maximum that the customer pays for the return of outputs that are not parents (docs/orders-api.md, "What is returned"); 0: nothing is paid',
  }),
  orderReturnDayMaxSats: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 50_000,
    description:
      'sats of the service that such returns may cost for all orders together within 24 hours; 0: nothing is paid',
  }),
  orderBumpAfterMinutes: Type.Integer({
    minimum: 0,
    maximum: 20_160,
    default: 60,
    description:
      'how long a transaction of an order waits before its fee is raised, and then before each further raise',
  }),
  orderBumpWithinBlocks: Type.Integer({
    // the range that estimatesmartfee accepts
    minimum: 1,
    maximum: 1008,
    default: 6,
    description:
      "number of blocks within which refunds, and transactions with a raised fee, should be mined; this program pays the node's fee estimate for this number",
  }),
  nonstandardMinerUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^@?#]+$',
      maxLength: 4096,
      secret: true,
      description:
        'URL of a miner that accepts reveals above 400,000 weight units, which nodes do not relay; its protocol is in docs/miner.md, and it may be in a private network; unset: such files are refused',
    }),
  ),
  nonstandardMinerHours: Type.Integer({
    minimum: 1,
    // two weeks, because nodes keep unconfirmed transactions, such as the commit, for this time (-mempoolexpiry)
    maximum: 336,
    // 144 blocks; a miner with 1 % of the hash rate finds one of them with a probability of three quarters
    default: 24,
    description:
      'how long that miner may leave a transaction unanswered, and how long the transaction may then stay unmined, before the order is refunded',
  }),
  orderRate: Type.String({
    pattern: '^[0-9]{1,9}(/[0-9]{1,9})?$',
    maxLength: 16,
    default: '2/10',
    description:
      'orders that one IP address may make without a key, in the form of SEARCH_ADDRESS_RATE; 0: no limit, neither for reads of orders nor for prices',
  }),
  orderReservedMax: Type.Integer({
    minimum: 1,
    // no inventory has more outputs
    maximum: 2_000,
    default: 3,
    description:
      'maximum number of sats of the inventory that unpaid orders of one IP address may reserve, one for each file (docs/orders-api.md, "Sats of the inventory")',
  }),
  tokenpayBaseFee: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 9000,
    description:
      'fee of the service for an order of a shop that is paid in runes, in sats (docs/tokenpay.md)',
  }),
  tokenpayConfirmations: Type.String({
    pattern: '^(?:[1-9][0-9]?|100)(?:,[A-Z•.]{1,60}:(?:[1-9][0-9]?|100))*$',
    // a block is replaced a few times a year; two consecutive blocks were not replaced for many years
    default: '2',
    examples: ['2,DOG•GO•TO•THE•MOON:6'],
    description:
      'number of confirmations that payments of shops’ orders need before they are credited; outputs with certain runes may need another number (docs/tokenpay.md)',
  }),
  tokenpaySpecialSats: Type.String({
    pattern: '^(?:none|[A-Za-z0-9_-]{1,40}(?:,[A-Za-z0-9_-]{1,40})*)$',
    maxLength: 2_000,
    // the types that orders can name, and all types that are rarer than uncommon
    default: [...inventoryTypes, 'rare', 'epic', 'legendary', 'mythic'].join(','),
    description:
      'special satributes: an output with such a sat is set aside in token payments and not credited; needs INDEX_SATS; none: sats are not checked (docs/tokenpay.md, "Set aside")',
  }),
  withdrawFeePayer: Type.Enum(['account', 'operator'], {
    default: 'account',
    description:
      'who pays the miner fee and the sats in outputs with runes when accounts withdraw: the account or the operator (docs/tokenpay.md, "Withdrawals")',
  }),
  withdrawDebtMaxSats: Type.Integer({
    minimum: 0,
    maximum: 10_000_000,
    // The price of a withdrawal of runes at 25 sats per virtual byte. An account that never received BTC can pay it
    // later.
    default: 10_000,
    description: 'sats that an account may owe for withdrawals of runes if its BTC balance is too small',
  }),
  withdrawInputsMax: Type.Integer({
    minimum: 1,
    // with 500 withdrawals of one or two outputs each, a batch is still small enough to be relayed
    maximum: 500,
    default: 100,
    description: 'maximum number of outputs that one withdrawal spends; its account pays for each output',
  }),
  withdrawBumpMaxSats: Type.Integer({
    minimum: 0,
    maximum: 10_000_000,
    default: 20_000,
    description:
      'sats that the transaction of a batch of withdrawals may cost beyond the charges of its accounts, if it waits too long',
  }),
  consolidateDailySats: Type.Integer({
    minimum: 0,
    // a tenth of a bitcoin; all dust of a service costs less
    maximum: 10_000_000,
    default: 0,
    examples: [20_000],
    description:
      'sats that the service pays within 24 hours to join small outputs of accounts (docs/tokenpay.md, "Consolidation"); 0: nothing is joined',
  }),
  consolidateFeeRateMax: Type.Integer({
    minimum: 1,
    // above 9 sats per vbyte, spending an output of 546 sats costs more than its value
    maximum: 50,
    default: 2,
    description:
      'highest fee rate at which small outputs of accounts are joined, in sats per virtual byte; outputs are small if they would cost more than their value at ten times this rate',
  }),
  tokenpayTestPay: Type.Integer({
    minimum: 0,
    // a bitcoin; a hundredth of this is as much as faucets of test networks give in weeks
    maximum: 100_000_000,
    default: 0,
    examples: [500_000],
    description:
      'sats that test payments of one account may use within 24 hours, from a test wallet that the operator fills (docs/tokenpay.md, "Test payments"); 0: no test payments; on mainnet only 0 is valid',
  }),
  collectionUnpaidMax: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    // a family buys a few items for itself; a shop should use a key
    default: 10,
    description:
      'maximum number of items of collections that unpaid orders of one IP address may have (docs/collections.md)',
  }),
  collectionUnpaidNetworkMax: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    // the owner of a /24 has 256 addresses for the price of one
    default: 50,
    description:
      'maximum number of items of collections that unpaid orders of one network may have (/24 of IPv4, /48 of IPv6)',
  }),
  turnstileSecret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'secret of Turnstile, which checks the tokens of orders of collections without a key; unset: every token is accepted',
    }),
  ),
  turnstileSiteKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[A-Za-z0-9_-]+$',
      description:
        'site key of Turnstile that belongs to TURNSTILE_SECRET; the pages /mint/<slug> show its challenge; unset: no one can order on these pages while TURNSTILE_SECRET is set',
    }),
  ),
  turnstileUrl: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'URL that checks the tokens; unset: the URL of Turnstile',
    }),
  ),
  orderMegabytesADay: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 500,
    description:
      'MB that orders of one IP address may store per day, in each process; this includes contents, leaves, shown data, and 4 kB for each order and file (docs/orders-api.md, "Contents"); 0: no limit',
  }),
  uploadMegabytesADay: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    // enough for a collection of 10,000 pictures of 500 kB; the operator knows whose key it is
    default: 5_000,
    description:
      'MB that one key may upload per day (`PUT /files/<name>`), in each process; this includes contents, and 4 kB for each content (docs/orders-api.md, "Uploads"); 0: no limit',
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
      ? [`ORDER_CONFIRMATIONS: the amounts of ${orderConfirmations} must be in ascending order`]
      : []),
    ...(parseTokenPolicy(tokenpayConfirmations) === null
      ? [
          `TOKENPAY_CONFIRMATIONS: ${tokenpayConfirmations} has a rune twice, or has a name that is not a rune`,
        ]
      : []),
    ...unknownSatributes(tokenpaySpecialSats).map(
      (name) => `TOKENPAY_SPECIAL_SATS: ${name} is not a satribute (docs/satributes.md)`,
    ),
    ...(isUrl ? [] : ['NONSTANDARD_MINER_URL is not a URL']),
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
    `PAYOUT_CONFIRMATIONS: ${confirmations} is not valid on ${network}. It must be at least ${payoutConfirmationsLeast}, because shorter reorganisations are common. If one takes back a delivery, the shares that were paid for this delivery cannot be collected`,
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
  return ['TOKENPAY_TEST_PAY must not be set on mainnet, because there are no test payments on mainnet'];
}
