import { isIP } from 'node:net';

/**
 * Returns the unit that limits count as one client. For IPv4 the unit is the address. For IPv6 the unit is the /64,
 * because a single machine has all of its 2^64 addresses. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) counts
 * as IPv4. Any text that is not an address counts as the client `unknown`, so all such requests share one limit.
 */
export function clientOf(address: string): string {
  // a zone (fe80::1%eth0) has a meaning only on this machine, so it is removed
  const [bare = ''] = address.split('%', 1);
  const version = isIP(bare);
  if (version === 4) return bare;
  if (version === 0) return 'unknown';
  const groups = groupsOf(bare);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  if (mapped) {
    const [high = 0, low = 0] = groups.slice(6);
    return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/u.exec(address);
  const text =
    dotted === null ? address : `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}`;
  const [before = '', after] = text.split('::');
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  if (after === undefined) return groups(before);
  const [left, right] = [groups(before), groups(after)];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function hex(high: string | undefined, low: string | undefined): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}
