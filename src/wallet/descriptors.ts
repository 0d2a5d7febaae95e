import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { accountOrigin } from './account-key.ts';
import { isPublicKeyHashBranch } from './branches.ts';
import type { WalletIdentity } from './wallet-identity.ts';

/**
 * Characters that Bitcoin Core's descriptors can contain (script/descriptor.cpp, INPUT_CHARSET; doc/descriptors.md; BIP
 * 380).
 */
const characters =
  '0123456789()[],\'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
const checksumCharacters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const generators = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];

/** Adds the checksum to a descriptor (BIP 380). `importdescriptors` requires the checksum. */
export function withChecksum(descriptor: string): string {
  let sum = 1n;
  const add = (value: number): void => {
    const top = sum >> 35n;
    sum = ((sum & 0x7ffffffffn) << 5n) ^ BigInt(value);
    for (const [bit, generator] of generators.entries())
      if (((top >> BigInt(bit)) & 1n) === 1n) sum ^= generator;
  };
  // each character adds five bits to the sum, and three characters together add one more symbol
  const groups: number[] = [];
  for (const character of descriptor) {
    const value = characters.indexOf(character);
    if (value < 0) throw new RangeError(`a descriptor has no ${character}`);
    add(value & 31);
    groups.push(value >> 5);
    if (groups.length === 3) add(groups.splice(0).reduce((group, high) => group * 3 + high, 0));
  }
  if (groups.length > 0) add(groups.reduce((group, high) => group * 3 + high, 0));
  for (let symbol = 0; symbol < 8; symbol++) add(0);
  sum ^= 1n;
  const symbols = Array.from(
    { length: 8 },
    (_, place) => checksumCharacters[Number((sum >> BigInt(5 * (7 - place))) & 31n)],
  );
  return `${descriptor}#${symbols.join('')}`;
}

const originOf = ({ masterFingerprint, network }: WalletIdentity): string =>
  `[${masterFingerprint}/${accountOrigin(network)}]`;

/** The descriptor of all addresses of a branch without a leaf (BIP 382, 386). It contains only public keys. */
export const accountDescriptor = (identity: WalletIdentity, branch: WalletKey['branch']): string =>
  branchDescriptor(identity, branch, '*');

/** The descriptor of one key's address without a leaf. */
export const keyDescriptor = (identity: WalletIdentity, { branch, index }: WalletKey): string =>
  branchDescriptor(identity, branch, String(index));

const branchDescriptor = (identity: WalletIdentity, branch: WalletKey['branch'], index: string): string => {
  const type = isPublicKeyHashBranch(branch) ? 'wpkh' : 'tr';
  return withChecksum(`${type}(${originOf(identity)}${identity.accountXpub}/${branch}/${index})`);
};

/**
 * The descriptor of an output key: `rawtr` (since Bitcoin Core 24). It is used for addresses with a leaf, because no
 * descriptor can describe an envelope as a leaf.
 */
export const outputKeyDescriptor = (outputKey: Uint8Array): string =>
  withChecksum(`rawtr(${Buffer.from(outputKey).toString('hex')})`);
