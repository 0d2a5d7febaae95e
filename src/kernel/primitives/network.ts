import { asBlockHashHex, type BlockHashHex } from './hash.ts';
import { asHeight, genesisHeight, type Height } from './height.ts';
import { asSats, noSats, type Sats } from './sats.ts';
/** Bitcoin networks, with their names in the configuration of Bitcoin Core and ord. */
export const networkNames = ['mainnet', 'testnet3', 'testnet4', 'signet', 'regtest'] as const;
export type NetworkName = (typeof networkNames)[number];

export interface NetworkParameters {
  readonly name: NetworkName;
  /** The first height at which ord finds inscriptions (ord src/chain.rs `first_inscription_height`). */
  readonly firstInscriptionHeight: Height;
  /** The first height at which curses are vindicated (ord src/chain.rs `jubilee_height`). */
  readonly jubileeHeight: Height;
  /**
   * The first height at which ord finds runes. Short names become free from this height on (ord rune.rs
   * `first_rune_height`).
   */
  readonly firstRuneHeight: Height;
  /** Human-readable part of segwit addresses (BIP 173). */
  readonly bech32: string;
  readonly p2pkhVersion: number;
  readonly p2shVersion: number;
  /** Hash of the block at height 0, in display order. */
  readonly genesisHash: BlockHashHex;
}

const testAddresses = { p2pkhVersion: 0x6f, p2shVersion: 0xc4 };

export const networks: Readonly<Record<NetworkName, NetworkParameters>> = {
  mainnet: {
    name: 'mainnet',
    firstInscriptionHeight: asHeight(767_430),
    jubileeHeight: asHeight(824_544),
    firstRuneHeight: asHeight(840_000),
    bech32: 'bc',
    p2pkhVersion: 0x00,
    p2shVersion: 0x05,
    genesisHash: asBlockHashHex('000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'),
  },
  testnet3: {
    name: 'testnet3',
    firstInscriptionHeight: asHeight(2_413_343),
    jubileeHeight: asHeight(2_544_192),
    firstRuneHeight: asHeight(2_520_000),
    bech32: 'tb',
    ...testAddresses,
    genesisHash: asBlockHashHex('000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943'),
  },
  testnet4: {
    name: 'testnet4',
    firstInscriptionHeight: genesisHeight,
    jubileeHeight: genesisHeight,
    firstRuneHeight: genesisHeight,
    bech32: 'tb',
    ...testAddresses,
    genesisHash: asBlockHashHex('00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043'),
  },
  signet: {
    name: 'signet',
    firstInscriptionHeight: asHeight(112_402),
    jubileeHeight: asHeight(175_392),
    firstRuneHeight: genesisHeight,
    bech32: 'tb',
    ...testAddresses,
    genesisHash: asBlockHashHex('00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6'),
  },
  regtest: {
    name: 'regtest',
    firstInscriptionHeight: genesisHeight,
    jubileeHeight: asHeight(110),
    firstRuneHeight: genesisHeight,
    bech32: 'bcrt',
    ...testAddresses,
    genesisHash: asBlockHashHex('0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'),
  },
};

/**
 * Block subsidy in sats by ord's rules. On every network, even on regtest, it starts with 50 BTC and halves every
 * 210,000 blocks (ord crates/ordinals/src/epoch.rs). The subsidy that the node pays may differ.
 */
export function subsidyAt(height: Height): Sats {
  const halvings = Math.floor(height / 210_000);
  return halvings >= 33 ? noSats : asSats(Math.floor(5_000_000_000 / 2 ** halvings));
}
