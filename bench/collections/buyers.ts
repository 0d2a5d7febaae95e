import { createHash } from 'node:crypto';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';

/** The P2WPKH script of one of many buyers. Any 20 bytes are valid. */
const buyerScript = (buyer: number): Buffer =>
  Buffer.concat([Buffer.of(0x00, 0x14), createHash('ripemd160').update(`buyer ${buyer}`).digest()]);

/** The address of one of many buyers. */
export const buyerAddress = (buyer: number): string =>
  scriptToAddress(buyerScript(buyer), networks.regtest) ?? '';
