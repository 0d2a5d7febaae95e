import { type Static, Type } from 'typebox';

/** Settings of the node. They are part of the schema of all settings. */
export const nodeSettings = {
  bitcoinRpcUrl: Type.String({
    pattern: '^https?://',
    maxLength: 4096,
    default: 'http://127.0.0.1:8332',
    flag: 'node',
    description: 'JSON-RPC address of the bitcoind to follow',
  }),
  bitcoinCookieFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      flag: 'cookie-file',
      description: 'cookie file of the node; it is read again whenever the node refuses the cookie',
    }),
  ),
  bitcoinRpcUser: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'user name for the node, if there is no cookie file',
    }),
  ),
  bitcoinRpcPassword: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, secret: true, description: 'password of BITCOIN_RPC_USER' }),
  ),
  bitcoinRestUrl: Type.Optional(
    Type.String({
      pattern: '^https?://',
      maxLength: 4096,
      description: 'REST address of the node; unset: the address of BITCOIN_RPC_URL',
    }),
  ),
  bitcoinZmq: Type.Optional(
    Type.String({
      pattern: '^tcp://',
      maxLength: 4096,
      description:
        'ZMQ address of the node, one for all topics; unset: this program asks the node for the address',
    }),
  ),
};

const schema = Type.Object(nodeSettings);

/** Finds contradictions between these settings. */
export function wrongNodeSettings(config: Static<typeof schema>): string[] {
  const wrong: string[] = [];
  if ((config.bitcoinRpcUser === undefined) !== (config.bitcoinRpcPassword === undefined)) {
    wrong.push('BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD must be set together or not at all');
  }
  if (config.bitcoinCookieFile !== undefined && config.bitcoinRpcUser !== undefined) {
    wrong.push('BITCOIN_COOKIE_FILE and BITCOIN_RPC_USER exclude each other');
  }
  return wrong;
}
