import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderSettings, serverSettings } from '#embedded-postgres/server-settings.ts';

const gigabyte = 1024 ** 3;
const usual = { port: 5433, memoryBytes: 8 * gigabyte, sharedMemoryBytes: 4 * gigabyte, durable: true };

function megabytes(setting: string | undefined): number {
  const match = /^(\d+)MB$/u.exec(setting ?? '');
  return match === null ? Number.NaN : Number(match[1]);
}

describe('settings of the embedded server', () => {
  test('fit the memory of the machine, within bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2048 }), (quarters) => {
        const settings = serverSettings({ ...usual, memoryBytes: (quarters * gigabyte) / 4 });
        const buffers = megabytes(settings['shared_buffers']);
        const maintenance = megabytes(settings['maintenance_work_mem']);
        return buffers >= 128 && buffers <= 4096 && maintenance >= 64 && maintenance <= 512;
      }),
    );
  });

  test('have an eighth of the memory for pages, and less if the data is thrown away', () => {
    const buffersOf = (gigabytes: number, durable: boolean): number =>
      megabytes(serverSettings({ ...usual, memoryBytes: gigabytes * gigabyte, durable })['shared_buffers']);
    expect([0.5, 8, 24, 64].map((gigabytes) => buffersOf(gigabytes, true))).toEqual([128, 1024, 3072, 4096]);
    expect([0.5, 8, 24, 64].map((gigabytes) => buffersOf(gigabytes, false))).toEqual([128, 512, 512, 512]);
  });

  test('keep every commit, unless the data is thrown away', () => {
    const durable = serverSettings(usual);
    expect([durable['fsync'], durable['synchronous_commit'], durable['full_page_writes']]).toEqual([
      'on',
      'on',
      'on',
    ]);
    const thrownAway = serverSettings({ ...usual, durable: false });
    expect(thrownAway['fsync']).toBe('off');
  });

  test('keep shared memory in files if /dev/shm is small, as in a container', () => {
    const type = (sharedMemoryBytes: number): string | undefined =>
      serverSettings({ ...usual, sharedMemoryBytes })['dynamic_shared_memory_type'];
    expect(type(0)).toBe('mmap');
    expect(type(64 * 1024 ** 2)).toBe('mmap');
    expect(type(gigabyte)).toBe('posix');
  });

  test('are written with their quotes doubled', () => {
    expect(renderSettings({ a: "it's", b: '' })).toMatch(/\na = 'it''s'\nb = ''\n$/u);
  });
});
