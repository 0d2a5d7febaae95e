import { Transaction } from '@scure/btc-signer';
import { Psbt } from 'bitcoinjs-lib';
import { unreachable } from '#kernel/unreachable.ts';
import type { CustomerAddress } from './customer-address.ts';
import { bitcoinjsSigner } from './sign-psbt.ts';
import type { WalletCall } from './wallet-calls.ts';

/** The addresses of an account. Pages see one address for each purpose. */
export interface WalletAccount {
  readonly payment: CustomerAddress;
  readonly ordinals: CustomerAddress;
}

/** A wallet's refusal, with the wallet's own message. */
export class WalletRefusal extends Error {}

/** Sends a signed transaction in hex. Returns its txid. */
export type Broadcast = (hex: string) => Promise<string>;

/** Calls the model of a wallet, which refuses and returns the same as the real wallet. */
export function callWallet(
  { wallet, call }: Pick<WalletCall, 'wallet' | 'call'>,
  account: WalletAccount,
  given: readonly unknown[],
  broadcast: Broadcast = () => Promise.reject(new WalletRefusal('no network')),
): Promise<unknown> {
  const [first, second] = given;
  switch (wallet) {
    case 'Xverse':
      return call.startsWith('signTransaction')
        ? xverseTransaction(account, first as { payload: XverseTransaction }, broadcast)
        : xversePsbt(account, first as XverseParams, broadcast);
    case 'UniSat':
      return unisat(account.ordinals, first as string, (second ?? {}) as InjectedOptions);
    case 'Leather':
      return leather(account, first as LeatherParams, broadcast);
    case 'OKX':
      return okx(account.ordinals, first as string, (second ?? {}) as InjectedOptions);
    default:
      return unreachable(wallet);
  }
}

interface XverseParams {
  readonly psbt: string;
  readonly signInputs?: Readonly<Record<string, readonly number[]>>;
  readonly broadcast?: boolean;
}
interface XverseTransaction {
  readonly psbtBase64: string;
  readonly inputsToSign?: readonly { readonly address: string; readonly signingIndexes: readonly number[] }[];
  readonly broadcast?: boolean;
}

/**
 * Signs by address, payments first. Finalizes only transactions that it also sends. Inputs of other addresses stay
 * unchanged.
 */
async function xversePsbt(
  { payment, ordinals }: WalletAccount,
  { psbt: text, signInputs = {}, broadcast: isSent = false }: XverseParams,
  broadcast: Broadcast,
): Promise<{ psbt: string; txid?: string }> {
  if (!/^[A-Za-z0-9+/]+={0,2}$/u.test(text) || text.length % 4 !== 0)
    throw new WalletRefusal('invalid base64');
  const psbt = refusing(() =>
    Transaction.fromPSBT(Buffer.from(text, 'base64'), { allowUnknownInputs: true }),
  );
  for (const own of [payment, ordinals])
    for (const index of signInputs[own.address] ?? [])
      refusing(() => {
        const { sighashType } = psbt.getInput(index);
        // the wallet allows any type that the PSBT requests
        psbt.signIdx(own.privateKey, index, sighashType === undefined ? undefined : [sighashType]);
      });
  if (!isSent) return { psbt: base64(psbt) };
  refusing(() => psbt.finalize());
  const txid = await broadcast(psbt.hex);
  return { psbt: base64(psbt), txid };
}

async function xverseTransaction(
  account: WalletAccount,
  {
    payload: { psbtBase64, inputsToSign, broadcast: isSent = false },
  }: { readonly payload: XverseTransaction },
  broadcast: Broadcast,
): Promise<{ psbtBase64: string; txId?: string }> {
  if (inputsToSign === undefined)
    throw new WalletRefusal('An array specifying the inputs to be signed by the wallet is required');
  const signInputs = Object.fromEntries(
    inputsToSign.map(({ address, signingIndexes }) => [address, signingIndexes]),
  );
  const { psbt, txid } = await xversePsbt(
    account,
    { psbt: psbtBase64, signInputs, broadcast: isSent },
    broadcast,
  );
  return { psbtBase64: psbt, ...(txid === undefined ? {} : { txId: txid }) };
}

interface LeatherParams {
  readonly hex: string;
  readonly signAtIndex?: number | readonly number[];
  readonly broadcast?: boolean;
}

/**
 * Tries the wallet's native segwit key, then its taproot key, for each input. Does not report inputs that neither key
 * signs.
 */
async function leather(
  { payment, ordinals }: WalletAccount,
  { hex, signAtIndex, broadcast: isSent = false }: LeatherParams,
  broadcast: Broadcast,
): Promise<{ hex: string; txid?: string }> {
  const psbt = refusing(() => Transaction.fromPSBT(Buffer.from(hex, 'hex')), 'Invalid PSBT hex');
  const every = Array.from({ length: psbt.inputsLength }, (_, index) => index);
  const indices = signAtIndex === undefined ? every : [signAtIndex].flat();
  for (const index of indices)
    for (const key of [payment, ordinals]) {
      try {
        psbt.signIdx(key.privateKey, index, [0, 1, 2, 3, 0x81, 0x82, 0x83]);
        break;
      } catch {
        // tries the next key
      }
    }
  const signed = Buffer.from(psbt.toPSBT()).toString('hex');
  if (!isSent) return { hex: signed };
  refusing(() => psbt.finalize(), 'Failed to finalize tx');
  return { hex: signed, txid: await broadcast(psbt.hex) };
}

interface InjectedOptions {
  readonly autoFinalized?: boolean;
  readonly toSignInputs?: readonly {
    readonly index: number;
    readonly address?: string;
    readonly publicKey?: string;
    readonly sighashTypes?: readonly number[];
    readonly disableTweakSigner?: boolean;
  }[];
}

const isHex = (text: string): boolean => /^[0-9a-fA-F]+$/u.test(text);
const readPsbt = (text: string): Psbt =>
  refusing(() => (isHex(text) ? Psbt.fromHex(text) : Psbt.fromBase64(text)), 'invalid psbt');
/** The key as the account shows it, always with 33 bytes. */
const accountKey = (own: CustomerAddress): string =>
  Buffer.from(bitcoinjsSigner({ ...own, type: 'p2wpkh' }).publicKey).toString('hex');

/** Signs with the key of the one connected address. Finalizes the signed inputs, unless an option forbids that. */
async function unisat(own: CustomerAddress, text: string, options: InjectedOptions): Promise<string> {
  const psbt = readPsbt(text);
  const wanted = options.toSignInputs?.map((input) => {
    if (input.address === undefined && input.publicKey === undefined)
      throw new WalletRefusal('no address or public key in toSignInput');
    if (input.address !== undefined && input.address !== own.address)
      throw new WalletRefusal('invalid address in toSignInput');
    if (input.publicKey !== undefined && input.publicKey !== accountKey(own))
      throw new WalletRefusal('invalid public key in toSignInput');
    return input;
  });
  const toSign = wanted ?? ownInputs(psbt, own).map((index) => ({ index }));
  for (const input of toSign) {
    const { index, sighashTypes, disableTweakSigner } = {
      sighashTypes: undefined,
      disableTweakSigner: false,
      ...input,
    };
    const { witnessUtxo } = psbt.data.inputs[index] ?? {};
    const isOwn = witnessUtxo !== undefined && Buffer.compare(witnessUtxo.script, own.script) === 0;
    // the wallet sets its own internal key, even if the page named the key of another output
    if (own.type === 'p2tr' && isOwn) psbt.data.inputs[index]!.tapInternalKey = internalKeyOf(own);
    const signer = bitcoinjsSigner(disableTweakSigner ? { ...own, type: 'p2wpkh' } : own);
    refusing(() => psbt.signInput(index, signer, sighashTypes === undefined ? undefined : [...sighashTypes]));
  }
  if (options.autoFinalized !== false)
    for (const { index } of toSign) refusing(() => psbt.finalizeInput(index));
  return psbt.toHex();
}

const internalKeyOf = ({ publicKey }: CustomerAddress): Uint8Array =>
  Uint8Array.from(Buffer.from(publicKey, 'hex')).slice(-32);

/** Indices of an address's unsigned inputs. If there are none, indices of all inputs. */
function ownInputs(psbt: Psbt, { script }: CustomerAddress): number[] {
  const every = [...psbt.data.inputs.keys()];
  const own = every.filter((index) => {
    const { witnessUtxo, finalScriptWitness, tapKeySig, partialSig } = psbt.data.inputs[index] ?? {};
    const isSigned = (finalScriptWitness ?? tapKeySig ?? partialSig) !== undefined;
    return !isSigned && witnessUtxo !== undefined && Buffer.compare(witnessUtxo.script, script) === 0;
  });
  return own.length === 0 ? every : own;
}

/**
 * Options for inputs that a page does not name. SINGLE|ANYONECANPAY, ALL and DEFAULT are signed; all other types must
 * be named.
 */
const unnamed = { sighashTypes: [0x83, 1, 0] as readonly number[], disableTweakSigner: false };

/**
 * Signs the named inputs. If none is named, it signs all that it can, and does not report the others. Finalizes the
 * signed inputs, unless an option forbids that.
 */
async function okx(own: CustomerAddress, text: string, options: InjectedOptions): Promise<string> {
  const psbt = readPsbt(text);
  const { toSignInputs, autoFinalized = true } = options;
  const every = [...psbt.data.inputs.keys()].map((index) => ({ index }));
  for (const input of toSignInputs ?? every) {
    const { index, sighashTypes, disableTweakSigner } = { ...unnamed, ...input };
    const signer = bitcoinjsSigner(disableTweakSigner ? { ...own, type: 'p2wpkh' } : own);
    try {
      psbt.signInput(index, signer, [...sighashTypes]);
      if (autoFinalized) psbt.finalizeInput(index);
    } catch (error) {
      if (toSignInputs !== undefined) throw new WalletRefusal((error as Error).message);
    }
  }
  return psbt.toHex();
}

const base64 = (psbt: Transaction): string => Buffer.from(psbt.toPSBT()).toString('base64');

/** Turns errors of the wallet's library into refusals. */
function refusing<T>(work: () => T, words?: string): T {
  try {
    return work();
  } catch (error) {
    throw new WalletRefusal(words ?? (error as Error).message);
  }
}
