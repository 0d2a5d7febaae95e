// Wallets in the browser: which are available, their addresses, and how they sign (docs/psbts.md, "Wallets").

/**
 * Addresses and keys of a wallet, in the form that the service's builders accept.
 *
 * @typedef {{
 *   readonly paymentAddress: string,
 *   readonly paymentPublicKey: string,
 *   readonly ordinalAddress?: string,
 *   readonly ordinalPublicKey?: string,
 * }} Account
 *
 * @typedef {{
 *   readonly psbtBase64: string,
 *   readonly psbtHex: string,
 *   readonly ordinalInputIndices: readonly number[],
 *   readonly paymentInputIndices: readonly number[],
 * }} Unsigned
 *
 * @typedef {{
 *   readonly name: string,
 *   readonly connect: () => Promise<Account>,
 *   readonly sign: (psbt: Unsigned, account: Account) => Promise<string>,
 * }} Wallet `sign` returns the wallet's result unchanged, in hex or base64
 *
 * @typedef {Readonly<Record<string, (...given: readonly unknown[]) => unknown>>} Provider
 */

/** A failure of a wallet, with a message for the wallet's owner. */
export class WalletFailure extends Error {}

/** The failure of a wallet that does not know the method. Another version of the wallet may have a different method. */
class UnknownMethod extends WalletFailure {}

/** JSON-RPC's code for an unknown method. */
const unknownMethod = -32601;

/** @param {unknown} value @returns {Readonly<Record<string, unknown>>} */
const fieldsOf = (value) =>
  typeof value === 'object' && value !== null ? /** @type {Readonly<Record<string, unknown>>} */ (value) : {};

/** @param {unknown} value @param {string} name */
const textIn = (value, name) => {
  const text = fieldsOf(value)[name];
  return typeof text === 'string' ? text : '';
};

/** Error codes that mean that the wallet's owner refused: of EIP-1193, of sats-connect's JSON-RPC, and of Leather. */
const refusals = [4001, -32000, -31000];

/**
 * Converts an error that a wallet threw or returned to a failure.
 *
 * @param {string} name
 * @param {unknown} thrown
 */
function failureOf(name, thrown) {
  if (thrown instanceof WalletFailure) return thrown;
  const inner = fieldsOf(thrown)['error'] ?? thrown;
  const code = fieldsOf(inner)['code'];
  const message = typeof inner === 'string' ? inner : textIn(inner, 'message');
  if (code === unknownMethod) return new UnknownMethod(`${name} does not know this request: update it.`);
  const isRefused =
    (typeof code === 'number' && refusals.includes(code)) ||
    /reject|refus|cancel|denied|closed/iu.test(message);
  return new WalletFailure(
    isRefused
      ? `${name} was closed, or you refused. Nothing was signed or paid: you can try again at any time.`
      : `${name} says: ${message === '' ? 'it failed' : message}. Nothing was paid.`,
  );
}

/**
 * @param {Provider} provider
 * @param {string} wallet
 * @param {string} method
 * @param {readonly unknown[]} given
 */
async function call(provider, wallet, method, given) {
  const member = provider[method];
  if (typeof member !== 'function') throw new WalletFailure(`${wallet} does not offer ${method}: update it.`);
  try {
    return await member.apply(provider, [...given]);
  } catch (thrown) {
    throw failureOf(wallet, thrown);
  }
}

/**
 * The result of a JSON-RPC request. Sats-connect and Leather answer such a request with `{result}` or `{error}`.
 *
 * @param {Provider} provider
 * @param {string} wallet
 * @param {string} method
 * @param {unknown} params
 */
async function ask(provider, wallet, method, params) {
  const answer = await call(provider, wallet, 'request', params === undefined ? [method] : [method, params]);
  if (fieldsOf(answer)['error'] !== undefined && fieldsOf(answer)['error'] !== null)
    throw failureOf(wallet, answer);
  return fieldsOf(answer)['result'];
}

/**
 * The account in a wallet's list of addresses.
 *
 * @param {string} wallet
 * @param {unknown} listed
 * @param {(address: unknown) => 'payment' | 'ordinals' | null} purposeOf
 * @returns {Account}
 */
function accountOf(wallet, listed, purposeOf) {
  const addresses = Array.isArray(listed) ? /** @type {readonly unknown[]} */ (listed) : [];
  const [payment, ordinals] = /** @type {const} */ (['payment', 'ordinals']).map((purpose) =>
    addresses.find((each) => purposeOf(each) === purpose),
  );
  if (payment === undefined || ordinals === undefined)
    throw new WalletFailure(
      `${wallet} did not give an address to pay with and one for inscriptions. Unlock it, and try again.`,
    );
  return {
    paymentAddress: textIn(payment, 'address'),
    paymentPublicKey: textIn(payment, 'publicKey'),
    ordinalAddress: textIn(ordinals, 'address'),
    ordinalPublicKey: textIn(ordinals, 'publicKey'),
  };
}

/**
 * The account of a wallet that has only one address at a time.
 *
 * @param {string} address
 * @param {string} publicKey
 * @returns {Account}
 */
export const oneAddress = (address, publicKey) => ({
  paymentAddress: address,
  paymentPublicKey: publicKey,
  // inscriptions need a taproot address, so the service replaces any other address by the taproot address of its key
  ...(/^(?:bc|tb|bcrt)1p/iu.test(address) ? { ordinalAddress: address } : {}),
  ordinalPublicKey: publicKey,
});

/** @param {Unsigned} psbt */
const allIndices = ({ ordinalInputIndices, paymentInputIndices }) =>
  [...ordinalInputIndices, ...paymentInputIndices].toSorted((a, b) => a - b);

/**
 * Indices of inputs, by the address that signs the inputs.
 *
 * @param {Unsigned} psbt
 * @param {Account} account
 * @returns {Readonly<Record<string, readonly number[]>>}
 */
function byAddress(psbt, { paymentAddress, ordinalAddress = paymentAddress }) {
  const { ordinalInputIndices, paymentInputIndices } = psbt;
  if (paymentAddress === ordinalAddress) return { [paymentAddress]: allIndices(psbt) };
  return {
    ...(ordinalInputIndices.length === 0 ? {} : { [ordinalAddress]: ordinalInputIndices }),
    ...(paymentInputIndices.length === 0 ? {} : { [paymentAddress]: paymentInputIndices }),
  };
}

/**
 * @param {string} name
 * @param {unknown} answer
 * @param {string} field
 */
function signedIn(name, answer, field) {
  const signed = typeof answer === 'string' ? answer : textIn(answer, field);
  if (signed === '') throw new WalletFailure(`${name} returned no signed PSBT. Nothing was paid: try again.`);
  return signed;
}

/**
 * Xverse, and other wallets that use sats-connect.
 *
 * @param {Provider} provider
 * @returns {Wallet}
 */
const xverse = (provider) => ({
  name: 'Xverse',
  connect: async () => {
    const purposes = ['payment', 'ordinals'];
    const message = 'Pay an order';
    const result = await ask(provider, 'Xverse', 'wallet_connect', { addresses: purposes, message }).catch(
      (error) => {
        if (!(error instanceof UnknownMethod)) throw error;
        return ask(provider, 'Xverse', 'getAccounts', { purposes, message });
      },
    );
    const purposeOf = (/** @type {unknown} */ address) => {
      const purpose = textIn(address, 'purpose');
      return purpose === 'payment' || purpose === 'ordinals' ? purpose : null;
    };
    return accountOf('Xverse', fieldsOf(result)['addresses'] ?? result, purposeOf);
  },
  sign: async (psbt, account) => {
    const params = { psbt: psbt.psbtBase64, signInputs: byAddress(psbt, account), broadcast: false };
    return signedIn('Xverse', await ask(provider, 'Xverse', 'signPsbt', params), 'psbt');
  },
});

/**
 * @param {Provider} provider
 * @returns {Wallet}
 */
const leather = (provider) => ({
  name: 'Leather',
  connect: async () => {
    const result = await ask(provider, 'Leather', 'getAddresses', undefined);
    const purposeOf = (/** @type {unknown} */ address) => {
      const type = textIn(address, 'type');
      return type === 'p2wpkh' ? 'payment' : type === 'p2tr' ? 'ordinals' : null;
    };
    return accountOf('Leather', fieldsOf(result)['addresses'], purposeOf);
  },
  sign: async (psbt) => {
    const params = { hex: psbt.psbtHex, signAtIndex: allIndices(psbt), broadcast: false };
    return signedIn('Leather', await ask(provider, 'Leather', 'signPsbt', params), 'hex');
  },
});

/**
 * UniSat and OKX, which have only one address at a time.
 *
 * @param {string} name
 * @param {Provider} provider
 * @param {() => Promise<Account>} connect
 * @returns {Wallet}
 */
const injected = (name, provider, connect) => ({
  name,
  connect,
  sign: async (psbt, account) => {
    const toSignInputs = Object.entries(byAddress(psbt, account)).flatMap(([address, indices]) =>
      indices.map((index) => ({ index, address })),
    );
    const options = { autoFinalized: false, toSignInputs };
    return signedIn(name, await call(provider, name, 'signPsbt', [psbt.psbtHex, options]), 'psbt');
  },
});

/** @param {Provider} provider */
const unisat = (provider) =>
  injected('UniSat', provider, async () => {
    const accounts = await call(provider, 'UniSat', 'requestAccounts', []);
    const [address] = Array.isArray(accounts) ? /** @type {readonly unknown[]} */ (accounts) : [];
    const publicKey = await call(provider, 'UniSat', 'getPublicKey', []);
    if (typeof address !== 'string' || typeof publicKey !== 'string')
      throw new WalletFailure('UniSat gave no address. Unlock it, and try again.');
    return oneAddress(address, publicKey);
  });

/** @param {Provider} provider */
const okx = (provider) =>
  injected('OKX', provider, async () => {
    const account = await call(provider, 'OKX', 'connect', []);
    const [address, publicKey] = [textIn(account, 'address'), textIn(account, 'publicKey')];
    if (address === '' || publicKey === '')
      throw new WalletFailure('OKX gave no address. Unlock it, and try again.');
    return oneAddress(address, publicKey);
  });

/** @param {unknown} value @returns {Provider | null} */
const providerIn = (value) =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? /** @type {Provider} */ (/** @type {unknown} */ (value))
    : null;

/**
 * The wallets that have added themselves to the page's global object.
 *
 * @param {Readonly<Record<string, unknown>>} page the global object
 * @returns {readonly Wallet[]}
 */
export function walletsIn(page) {
  const found = /** @type {const} */ ([
    [xverse, fieldsOf(page['XverseProviders'])['BitcoinProvider'] ?? page['BitcoinProvider']],
    [unisat, page['unisat']],
    [leather, page['LeatherProvider']],
    [okx, fieldsOf(page['okxwallet'])['bitcoin']],
  ]);
  return found.flatMap(([made, value]) => {
    const provider = providerIn(value);
    return provider === null ? [] : [made(provider)];
  });
}

/** Prefixes of the addresses of each network. */
const beginnings = {
  mainnet: /^(?:bc1|1|3)/iu,
  regtest: /^(?:bcrt1|m|n|2)/iu,
  testnet3: /^(?:tb1|m|n|2)/iu,
  testnet4: /^(?:tb1|m|n|2)/iu,
  signet: /^(?:tb1|m|n|2)/iu,
};

/**
 * The reason why an address does not belong to a network. `null` if the prefix of the address fits the network. The
 * service checks the rest of the address.
 *
 * @param {string} address
 * @param {string} network
 */
export function networkProblem(address, network) {
  const beginning = /** @type {Readonly<Record<string, RegExp>>} */ (beginnings)[network];
  if (address === '' || beginning === undefined || beginning.test(address)) return null;
  const others = Object.entries(beginnings).find(([, each]) => each.test(address));
  return others === undefined
    ? `This is not an address of ${network}.`
    : `This is an address of ${others[0]}, but this service is on ${network}.`;
}
