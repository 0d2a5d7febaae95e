import { describe, expect, test } from 'vitest';
import { differences } from '#test/chaos/checks/compare.ts';
import { Replay } from '#test/chaos/checks/event-reader.ts';

const block = (sequence: number, height: number, hash: string, events = 0): string =>
  JSON.stringify({ id: `${sequence}.0`, type: 'block', height, blockHash: hash, events, eventsKept: true });
const created = (sequence: number, index: number): string =>
  JSON.stringify({ id: `${sequence}.${index}`, type: 'inscription-created', inscription: 'x' });
const undo = (sequence: number, cancels: number): string =>
  JSON.stringify({ id: `${sequence}.0`, type: 'undo', cancels });

function replayed(lines: readonly string[]): Replay {
  const replay = new Replay();
  for (const line of lines) replay.take(line);
  return replay;
}

describe('the replay of events', () => {
  test('is that of somebody who never saw what was taken back', () => {
    const seen = replayed([
      block(0, 7, 'a'),
      block(1, 8, 'b', 1),
      created(1, 1),
      undo(2, 1),
      block(3, 8, 'c', 1),
      created(3, 1),
    ]);
    const unseen = replayed([block(0, 7, 'a'), block(1, 8, 'c', 1), created(1, 1)]);
    expect(seen.lines()).toEqual(unseen.lines());
    expect(seen.undone).toBe(1);
  });

  test('refuses an undo of another block than the last one, a gap, and events without a block', () => {
    expect(() => replayed([block(0, 7, 'a'), block(1, 8, 'b'), undo(2, 0)])).toThrow(/takes back/u);
    expect(() => replayed([block(0, 7, 'a'), block(1, 9, 'b')])).toThrow(/after block 7/u);
    expect(() => replayed([created(4, 1)])).toThrow(/belongs to none of the blocks/u);
  });
});

describe('differences', () => {
  test('are found on both sides, and a row that is there twice counts', () => {
    expect(differences('t', ['a', 'b', 'b'], ['b', 'c'])).toEqual([
      't: only after chaos: a',
      't: only after chaos: b',
      't: only in the clean index: c',
    ]);
    expect(differences('t', ['a', 'b'], ['b', 'a'])).toEqual([]);
  });
});
