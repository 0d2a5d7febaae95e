import { expect, test } from 'vitest';
import { HeldMemory } from '#inventory/held-memory.ts';
import type { InventoryOutput } from '#inventory/inventory.store.ts';
import { defaultBaseFees } from '#inventory/inventory-types.ts';
import { TypeRules } from '#inventory/type-rules.ts';
import { asBlockHash, displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';

test('the sats of an output are looked at once a block, however often it is asked for', async () => {
  let looks = 0;
  const output = (vout: number, block = 1): InventoryOutput => ({
    txid: trustedTxid(Buffer.alloc(32)),
    vout,
    value: asSats(10_000),
    script: Buffer.alloc(0),
    height: asHeight(block),
    blockHash: displayHash(asBlockHash(Buffer.alloc(32, block))),
    addedAt: new Date(),
    get ranges() {
      looks++;
      return [{ start: 500 * 5_000_000_000, end: 500 * 5_000_000_000 + 10_000 }];
    },
  });
  const memory = new HeldMemory(defaultBaseFees);
  const rules = new TypeRules(new SatributeBook('mainnet'));
  const [first, second] = [output(0), output(1)];
  const held = await memory.of([first, second], rules);
  expect(held.map((types) => types.get('uncommon')?.amount)).toEqual([1, 1]);
  expect(looks).toBe(2);
  expect(await memory.of([second, first], rules)).toEqual(held);
  expect(looks).toBe(2);
  await memory.of([output(0, 2)], rules);
  expect(looks).toBe(3);
  // with other definitions, the output is read again
  const others = new TypeRules(new SatributeBook('mainnet'));
  await memory.of([output(0, 2)], others);
  expect(looks).toBe(4);
});
