import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const program = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { inBoundedSpace, loadingInSmallSpace } from '#kernel/process/new-space.ts';
  const megabytes = () =>
    getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size / 2 ** 20;
  let kept = [];
  const allocate = async () => {
    for (let turn = 0; turn < 40; turn++) {
      for (let made = 0; made < 100_000; made++) {
        kept.push({ made, pair: [made, turn] });
        if (kept.length > 60_000) kept = [];
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const sizes = [];
  for (const within of [loadingInSmallSpace, inBoundedSpace, (work) => work()]) {
    await within(allocate);
    sizes.push(megabytes());
  }
  console.log(JSON.stringify(sizes));
`;

test('the space of new objects stays small while modules are loaded, and bounded during a load, and grows after them', {
  tags: ['proof'],
}, async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program],
    { cwd: import.meta.dirname },
  );
  const [modules, load, rest] = JSON.parse(stdout) as [number, number, number];
  expect(modules).toBeLessThanOrEqual(4);
  expect(load).toBeGreaterThanOrEqual(16);
  // the size may double once between two checks
  expect(load).toBeLessThanOrEqual(64);
  expect(rest).toBeGreaterThanOrEqual(load);
});
