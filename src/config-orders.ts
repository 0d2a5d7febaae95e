import { Type } from 'typebox';

/** Settings of orders and of what they tell others, for the schema of all settings. */
export const orderSettings = {
  walletSeedFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      flag: 'seed-file',
      description:
        'file with the BIP 39 words of the wallet of orders, mode 0600, of the user that runs this program; `satscribe wallet init` makes it; unset: nothing is signed (docs/wallet.md)',
    }),
  ),
  serviceSecretFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'file with the 32 random bytes from which the keys of webhooks come, the same for all processes, mode 0600; made where it is absent; unset: `service-secret` in DATA_DIR (docs/webhooks.md)',
    }),
  ),
  serviceSecretOldFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'the file before a change of SERVICE_SECRET_FILE: webhooks are signed with the keys of both (docs/webhooks.md, "The secret")',
    }),
  ),
  orderBaseFee: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 9000,
    description: 'sats that the service takes for each file of a managed order (docs/orders.md)',
  }),
  orderBaseFeeDirect: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 2000,
    description: 'sats that the service takes for each file of a direct order',
  }),
  orderSizeFeePercent: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 10,
    description: 'percentage of the chain fee that the service takes beside it, of managed orders',
  }),
  collectionServiceFee: Type.Integer({
    minimum: 0,
    maximum: 100_000_000,
    default: 0,
    description: 'sats that the service takes for each file of a collection, beside the base fee',
  }),
  allowPrivateUrls: Type.Boolean({
    default: false,
    description:
      'URLs that clients name, as those of webhooks, may lead to any address and port, also of this machine and its network: for tests',
  }),
  orderRate: Type.String({
    pattern: '^[0-9]{1,9}(/[0-9]{1,9})?$',
    maxLength: 16,
    default: '2/10',
    description:
      'orders that one address without a key can make, in the form of SEARCH_ADDRESS_RATE; 0: no limit, for reads of orders and prices neither',
  }),
};
