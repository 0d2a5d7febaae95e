import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { type InscriptionKey, trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { DerivedBlock, DerivedRows, DerivedTable, RowSets } from '../derived-table.ts';

/**
 * Distance between marked children. A child is marked if its position is a multiple of this distance, so a page in the
 * middle of a parent's children is found without counting all children before it.
 */
const markEvery = 1000;

/**
 * The number of children of each parent, the newest child, and every thousandth child. Without this table, counting
 * 500,000 children along an index took a third of a second, and the list of all parents read all of `chain.parents`.
 */
export const parentChildren: DerivedTable = {
  name: 'parent_children',
  facts: [],
  targets: [],
  // undo uses an index of chain.parents, so no index is needed here
  indexes: {},
  firstHeight: () => 0,
  isWanted: () => true,
  begin: () => new NewChildren(),
  undo: discount,
  strays: `
    SELECT 'chain.parent_children' AS table, 'parent_key ' || parent_key AS row, $1::integer AS height
    FROM chain.parent_children c
    WHERE NOT EXISTS (SELECT FROM chain.parents p WHERE p.parent_key = c.parent_key AND p.child_key = c.newest_child)
    UNION ALL
    SELECT 'chain.child_marks', 'parent_key ' || parent_key || ', nth ' || nth, $1::integer
    FROM chain.child_marks m
    WHERE NOT EXISTS (SELECT FROM chain.parents p WHERE p.parent_key = m.parent_key AND p.child_key = m.child_key)`,
};

/** New children in a batch, by parent; each list is ascending. */
class NewChildren implements DerivedRows {
  readonly #byParent = new Map<InscriptionKey, InscriptionKey[]>();

  add({ ledger: { inscriptions } }: DerivedBlock): void {
    const { firstParent, parentKey, firstKey, count } = inscriptions;
    for (let row = 0; row < count; row++) {
      const end = firstParent[row + 1]!;
      for (let at = firstParent[row]!; at < end; at++) {
        const parent = trustedInscriptionKey(parentKey[at]!);
        const child = trustedInscriptionKey(firstKey + row);
        const children = this.#byParent.get(parent);
        if (children === undefined) this.#byParent.set(parent, [child]);
        else children.push(child);
      }
    }
  }

  /** Writes the rows in one statement, and the marks (one child in a thousand) in a second statement. */
  async write(tx: pg.ClientBase): Promise<void> {
    if (this.#byParent.size === 0) return;
    // sort by key, so that each index page is read once
    const parents = [...this.#byParent.keys()].toSorted((a, b) => a - b);
    const added = parents.map((parent) => this.#childrenOf(parent));
    const { rows } = await tx.query<{ parent_key: InscriptionKey; children: number }>(
      `INSERT INTO chain.parent_children AS c (parent_key, newest_child, children)
       SELECT * FROM unnest($1::integer[], $2::integer[], $3::integer[])
       ON CONFLICT (parent_key) DO UPDATE
         SET newest_child = excluded.newest_child, children = c.children + excluded.children
         WHERE c.newest_child < excluded.newest_child
       RETURNING parent_key, children`,
      [parents, added.map((children) => children.at(-1)), added.map(({ length }) => length)],
    );
    // children must arrive in key order, because otherwise marks would have wrong positions
    assert(rows.length === parents.length, 'a child was written after a newer one');
    await writeMarks(
      tx,
      rows.flatMap(({ parent_key: parent, children }) => this.#marksOf(parent, children)),
    );
  }

  /** Compares the rows of those parents whose newest child is in the block, and the marks of the block. */
  async compare(tx: pg.ClientBase, { ledger: { inscriptions, counters } }: DerivedBlock): Promise<RowSets[]> {
    if (this.#byParent.size === 0) return [];
    const { firstKey } = inscriptions;
    const { nextKey } = counters;
    const parents = [...this.#byParent.keys()];
    const stored = await readParents(tx, parents, firstKey);
    const marks = await tx.query<Mark>(
      `SELECT parent_key AS parent, nth, child_key AS child FROM chain.child_marks
       WHERE parent_key = ANY($1) AND child_key >= $2 AND child_key < $3`,
      [parents, firstKey, nextKey],
    );
    const counted = stored.map(({ parent, before, newest, children }) => {
      const own = this.#childrenOf(parent);
      const isLast = newest === null || newest < nextKey;
      return {
        expected: isLast ? [parentName(parent, own.at(-1) ?? -1, before + own.length)] : [],
        found: isLast && newest !== null ? [parentName(parent, newest, children ?? 0)] : [],
        marks: this.#marksOf(parent, before + own.length),
      };
    });
    return [
      {
        table: 'chain.parent_children',
        column: null,
        expected: counted.flatMap(({ expected }) => expected),
        found: counted.flatMap(({ found }) => found),
      },
      {
        table: 'chain.child_marks',
        column: null,
        expected: counted.flatMap((parent) => parent.marks).map(markName),
        found: marks.rows.map(markName),
      },
    ];
  }

  #childrenOf(parent: InscriptionKey): readonly InscriptionKey[] {
    const children = this.#byParent.get(parent);
    assert(children !== undefined, 'a parent without new children');
    return children;
  }

  /** The new children of a parent that must be marked, computed from its number of children. */
  #marksOf(parent: InscriptionKey, children: number): Mark[] {
    const added = this.#childrenOf(parent);
    const before = children - added.length;
    const marks: Mark[] = [];
    for (let nth = Math.max(1, Math.ceil(before / markEvery)) * markEvery; nth < children; nth += markEvery) {
      marks.push({ parent, nth, child: added[nth - before]! });
    }
    return marks;
  }
}

/** A marked child: `nth` is its number of older siblings of the same parent. */
interface Mark {
  readonly parent: InscriptionKey;
  readonly nth: number;
  readonly child: InscriptionKey;
}

const markName = ({ parent, nth, child }: Mark): string =>
  `parent_key ${parent}, nth ${nth}, child_key ${child}`;
const parentName = (parent: InscriptionKey, newest: InscriptionKey | -1, children: number): string =>
  `parent_key ${parent}, newest_child ${newest}, children ${children}`;

async function writeMarks(tx: pg.ClientBase, marks: readonly Mark[]): Promise<void> {
  if (marks.length === 0) return;
  await tx.query(
    `INSERT INTO chain.child_marks (parent_key, nth, child_key)
     SELECT * FROM unnest($1::integer[], $2::integer[], $3::integer[])`,
    [marks.map(({ parent }) => parent), marks.map(({ nth }) => nth), marks.map(({ child }) => child)],
  );
}

interface StoredParent {
  readonly parent: InscriptionKey;
  /** Number of children with lower keys. */
  readonly before: number;
  readonly newest: InscriptionKey | null;
  readonly children: number | null;
}

/**
 * The stored rows of some parents, and the number of their children below a key. Children after the last mark are
 * counted one by one.
 */
async function readParents(
  tx: pg.ClientBase,
  parents: readonly InscriptionKey[],
  firstKey: number,
): Promise<StoredParent[]> {
  const { rows } = await tx.query<StoredParent>(
    `SELECT asked.parent, c.newest_child AS newest, c.children, coalesce(mark.nth, 0) + behind.children AS before
     FROM unnest($1::integer[]) AS asked(parent)
     LEFT JOIN chain.parent_children c ON c.parent_key = asked.parent
     LEFT JOIN LATERAL (
       SELECT nth, child_key FROM chain.child_marks m
       WHERE m.parent_key = asked.parent AND m.child_key < $2 ORDER BY nth DESC LIMIT 1
     ) AS mark ON true
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS children FROM chain.parents p
       WHERE p.parent_key = asked.parent AND p.child_key >= coalesce(mark.child_key, 0) AND p.child_key < $2
     ) AS behind`,
    [parents, firstKey],
  );
  return rows;
}

/**
 * Subtracts removed children from the counts. They are the newest of their parents, so one index lookup per parent is
 * enough.
 */
async function discount(tx: pg.ClientBase, { firstKey }: { readonly firstKey: number }): Promise<void> {
  await tx.query(
    `WITH gone AS (
       SELECT parent_key, count(*)::integer AS children FROM chain.parents WHERE child_key >= $1 GROUP BY parent_key
     ), marks AS (
       DELETE FROM chain.child_marks m USING gone WHERE m.parent_key = gone.parent_key AND m.child_key >= $1
     ), childless AS (
       DELETE FROM chain.parent_children c USING gone
       WHERE c.parent_key = gone.parent_key AND c.children <= gone.children
     )
     UPDATE chain.parent_children c
     SET children = c.children - gone.children,
       newest_child = (
         SELECT p.child_key FROM chain.parents p WHERE p.parent_key = c.parent_key AND p.child_key < $1
         ORDER BY p.child_key DESC LIMIT 1
       )
     FROM gone WHERE c.parent_key = gone.parent_key AND c.children > gone.children`,
    [firstKey],
  );
}
