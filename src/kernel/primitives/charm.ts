/** Bits of ord's charms (crates/ordinals/src/charm.rs). The charms of sats need an index of sats. */
export const charms = {
  coin: 1 << 0,
  cursed: 1 << 1,
  epic: 1 << 2,
  legendary: 1 << 3,
  lost: 1 << 4,
  nineball: 1 << 5,
  rare: 1 << 6,
  reinscription: 1 << 7,
  unbound: 1 << 8,
  uncommon: 1 << 9,
  vindicated: 1 << 10,
  mythic: 1 << 11,
  burned: 1 << 12,
  palindrome: 1 << 13,
} as const;

// charms in the order of ord's JSON, which is not the order of the bits
const shown = [
  'coin',
  'uncommon',
  'rare',
  'epic',
  'legendary',
  'mythic',
  'nineball',
  'palindrome',
  'reinscription',
  'cursed',
  'unbound',
  'lost',
  'vindicated',
  'burned',
] as const satisfies readonly (keyof typeof charms)[];

/** Names of the charms that are set, in the order of ord's `/inscription`. */
export function charmNames(bits: number): string[] {
  return shown.filter((name) => (bits & charms[name]) !== 0);
}
