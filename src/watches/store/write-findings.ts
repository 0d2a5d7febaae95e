import type pg from 'pg';
import { type ShownFinding, shownFinding } from '#watches/shown-finding.ts';
import {
  type FindingFacts,
  type FindingState,
  subjectOf,
  type WatchKind,
  watchSecretName,
} from '#watches/watch.ts';
import { putWebhooksOf, type WebhookAddress } from '#webhooks/outbox.ts';
import { changeWaiting, deleteSettled, lockLastWaiting } from '#webhooks/waiting-messages.store.ts';
import { type FindingRow, findingColumns, findingOf, findingsChannel } from './findings.store.ts';

/** The state of a thing that a watch found. */
export interface FoundState {
  readonly watchId: string;
  readonly thing: string;
  readonly state: FindingState;
  readonly txid: Uint8Array;
  /** The block of a `confirmed` finding. The former block of a finding whose block was undone. Otherwise null. */
  readonly block: { readonly height: number; readonly hash: Uint8Array } | null;
  readonly replacedBy: Uint8Array | null;
  readonly facts: FindingFacts;
}

/** Watches with changes, each with its number before the first of these changes. */
export type ChangedWatches = Map<string, number>;

/**
 * Stores states, and counts the numbers of the watches up. A state that equals the stored state is left out, so that no
 * state is told twice. States of watches that have ended are left out, too. A finding that is confirmed becomes pending
 * only by a state with its block, which was undone, because the mempool's tables may keep a mined transaction for a
 * moment.
 *
 * @param states each thing of a watch at most once
 */
export async function writeStates(
  tx: pg.ClientBase,
  states: readonly FoundState[],
  changed: ChangedWatches,
): Promise<void> {
  if (states.length === 0) return;
  const { rows } = await tx.query<{ id: string; before: number }>(
    `WITH given AS (
       SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::integer[], $6::bytea[], $7::bytea[],
                            $8::text[]) WITH ORDINALITY
              AS g (watch_id, thing, state, txid, height, block_hash, replaced_by, facts, nth)
     ), news AS (
       SELECT given.*, f.watch_id IS NULL AS is_new,
              row_number() OVER (PARTITION BY given.watch_id ORDER BY nth) AS step
         FROM given JOIN service.watches AS w ON w.id = given.watch_id AND w.ended_at IS NULL
         LEFT JOIN service.watch_findings AS f ON f.watch_id = given.watch_id AND f.thing = given.thing
        WHERE f.watch_id IS NULL
           OR (f.state <> given.state AND NOT (f.state = 'confirmed' AND given.state = 'pending'
                                               AND f.block_hash IS DISTINCT FROM given.block_hash))
           OR (given.state = 'confirmed' AND f.block_hash <> given.block_hash)
     ), raised AS (
       UPDATE service.watches AS w SET last_number = last_number + n.count, found = found + n.fresh
         FROM (SELECT watch_id, count(*) AS count, count(*) FILTER (WHERE is_new) AS fresh FROM news GROUP BY 1) AS n
        WHERE w.id = n.watch_id RETURNING w.id, w.last_number - n.count AS before
     ), written AS (
       INSERT INTO service.watch_findings AS f
              (watch_id, thing, state, number, txid, height, block_hash, replaced_by, facts)
       SELECT watch_id, thing, state, before + step, txid, CASE WHEN state <> 'pending' THEN height END,
              CASE WHEN state <> 'pending' THEN block_hash END, replaced_by, facts::jsonb
         FROM news JOIN raised ON raised.id = news.watch_id
       ON CONFLICT (watch_id, thing) DO UPDATE SET state = excluded.state, number = excluded.number,
         height = excluded.height, block_hash = excluded.block_hash, replaced_by = excluded.replaced_by,
         facts = f.facts || excluded.facts, changed_at = now()
     )
     SELECT id, before FROM raised`,
    [
      states.map(({ watchId }) => watchId),
      states.map(({ thing }) => thing),
      states.map(({ state }) => state),
      states.map(({ txid }) => Buffer.from(txid)),
      states.map(({ block }) => block?.height ?? null),
      states.map(({ block }) => (block === null ? null : Buffer.from(block.hash))),
      states.map(({ replacedBy }) => replacedBy && Buffer.from(replacedBy)),
      states.map(({ facts }) => JSON.stringify(facts)),
    ],
  );
  for (const { id, before } of rows) if (!changed.has(id)) changed.set(id, before);
}

/** Maximum number of findings of a watch that are kept. A reader who is further behind has lost interest. */
const findingsMax = 10_000;
/** How many changes a watch has between two deletions of its oldest findings, so that each deletion deletes many. */
const changesBetween = 1_000;

/**
 * Deletes the oldest findings of changed watches, so that each watch has at most `findingsMax`. Call it at the end of
 * the transaction that wrote the states, before `tellChanges`.
 */
export async function keepNewest(tx: pg.ClientBase, changed: ChangedWatches): Promise<void> {
  if (changed.size === 0) return;
  await tx.query(
    `WITH full_watches AS (
       SELECT w.id, (SELECT number FROM service.watch_findings WHERE watch_id = w.id
                      ORDER BY number DESC OFFSET ${findingsMax - changesBetween} LIMIT 1) AS last
         FROM unnest($1::uuid[], $2::bigint[]) AS changed (id, before) JOIN service.watches AS w USING (id)
        WHERE w.found > ${findingsMax - changesBetween}
          AND w.last_number / ${changesBetween} > changed.before / ${changesBetween}
     )
     DELETE FROM service.watch_findings AS f USING full_watches
      WHERE f.watch_id = full_watches.id AND f.number <= full_watches.last`,
    [[...changed.keys()], [...changed.values()]],
  );
}

/** Maximum number of findings in one message. A receiver reads the rest with the cursor. */
export const toldMax = 100;
/** Maximum number of watches whose messages are made at once, so that their findings fit in memory. */
const watchesAtOnce = 100;
/**
 * Maximum number of waiting messages of a watch. A receiver that fails for days would otherwise get one message for
 * each block and each round. While that many messages wait, the last message also stands for all later changes.
 */
const waitingMax = 3;
/**
 * Number of newest messages of a watch that are kept after they were sent, for the operator. A busy watch has a message
 * each round, which would be gigabytes in the 30 days of other messages, and the findings can be read anyway.
 */
const messagesKept = 100;

interface ToldRow extends FindingRow {
  readonly kind: WatchKind;
  readonly webhook_url: string;
  readonly secret_key: Buffer;
  readonly last_number: number;
  readonly count: number;
}

/**
 * Tells each changed watch with a webhook by one message in the outbox, and notifies readers that wait for findings.
 * Call it once, at the end of the transaction that wrote the states.
 */
export async function tellChanges(tx: pg.ClientBase, changed: ChangedWatches): Promise<void> {
  const all = [...changed];
  if (all.length === 0) return;
  for (let from = 0; from < all.length; from += watchesAtOnce)
    await putMessages(tx, await messagesOf(tx, all.slice(from, from + watchesAtOnce)));
  await tx.query(`SELECT pg_notify('${findingsChannel}', '')`);
}

/** A message in JSON. `more`: number of changes that the message stands for, besides its findings. */
interface ToldBody {
  readonly id: string;
  readonly kind: WatchKind;
  /** The number of the last change that the message stands for. */
  readonly number: number;
  readonly findings: readonly ShownFinding[];
  readonly more: number;
}
type Told = WebhookAddress & { readonly body: ToldBody };

/** Puts messages in the outbox, or counts their changes in a message that waits there. */
async function putMessages(tx: pg.ClientBase, told: readonly Told[]): Promise<void> {
  const subjects = told.map(({ subject }) => subject);
  const last = new Map((await lockLastWaiting(tx, subjects, waitingMax)).map((each) => [each.subject, each]));
  const changed = told.flatMap(({ subject, body: { number, findings, more } }) => {
    const waiting = last.get(subject);
    if (waiting === undefined) return [];
    const body = JSON.parse(waiting.body) as ToldBody;
    return [{ ...waiting, body: { ...body, number, more: body.more + findings.length + more } }];
  });
  await changeWaiting(tx, changed);
  const fresh = told.filter(({ subject }) => !last.has(subject));
  const sequences = await putWebhooksOf(
    tx,
    fresh.map(({ body, ...address }) => ({ ...address, bodies: [body] })),
  );
  // the sequences of a subject have no gaps, so one message is deleted for each message that is written
  const former = sequences.map((sequence) => sequence - messagesKept);
  await deleteSettled(
    tx,
    fresh.map(({ subject }, nth) => ({ subject, sequence: former[nth] ?? 0 })),
  );
}

async function messagesOf(
  tx: pg.ClientBase,
  changed: readonly (readonly [id: string, before: number])[],
): Promise<Told[]> {
  const { rows } = await tx.query<ToldRow>(
    `SELECT w.kind, w.webhook_url, w.secret_key, w.last_number, news.count, f.*
       FROM unnest($1::uuid[], $2::bigint[]) AS changed (id, before)
       JOIN service.watches AS w USING (id)
       CROSS JOIN LATERAL (SELECT count(*) AS count FROM service.watch_findings
                            WHERE watch_id = w.id AND number > changed.before) AS news
       CROSS JOIN LATERAL (SELECT ${findingColumns} FROM service.watch_findings
                            WHERE watch_id = w.id AND number > changed.before ORDER BY number LIMIT ${toldMax}) AS f
      WHERE w.webhook_url IS NOT NULL ORDER BY w.id, f.number`,
    [changed.map(([id]) => id), changed.map(([, before]) => before)],
  );
  return [...Map.groupBy(rows, ({ watch_id: id }) => id)].flatMap(([id, found]) => {
    const [first] = found;
    if (first === undefined) return [];
    const { kind, webhook_url: url, secret_key: secretKey, last_number: number, count } = first;
    const findings = found.map((row) => shownFinding(findingOf(row)));
    const body = { id, kind, number, findings, more: count - findings.length };
    return [{ subject: subjectOf({ id, kind }), url, secretOf: watchSecretName(id, secretKey), body }];
  });
}

/** A finding whose state may have to change, because its block or its transaction is no longer there. */
export interface KeptFinding {
  readonly watchId: string;
  readonly thing: string;
  readonly txid: Buffer;
  readonly height: number | null;
  readonly hash: Buffer | null;
  readonly changedAt: Date;
}

const keptColumns = `watch_id AS "watchId", thing, txid, height, block_hash AS hash, changed_at AS "changedAt"`;

/** Maximum number of findings that are read at once. */
const keptAtOnce = 5_000;

/** Findings that are confirmed in a block, in pages. */
export const readFindingsOfBlock = (
  client: pg.ClientBase,
  hash: Uint8Array,
): AsyncGenerator<readonly KeptFinding[]> =>
  pagesOf(client, `state = 'confirmed' AND block_hash = $1`, Buffer.from(hash));

/** Transactions with pending findings of active watches. */
export async function readPendingTxids(client: pg.ClientBase): Promise<Buffer[]> {
  // one step of the index for each transaction, because a transaction may have many findings
  const { rows } = await client.query<{ txid: Buffer }>(
    `WITH RECURSIVE found AS (
       (SELECT txid FROM service.watch_findings WHERE state = 'pending' ORDER BY txid LIMIT 1)
       UNION ALL
       SELECT next.* FROM found CROSS JOIN LATERAL (
         SELECT txid FROM service.watch_findings
          WHERE state = 'pending' AND txid > found.txid ORDER BY txid LIMIT 1) AS next
     ) SELECT found.txid FROM found CROSS JOIN LATERAL (
         SELECT FROM service.watch_findings AS f JOIN service.watches AS w ON w.id = f.watch_id
          WHERE f.state = 'pending' AND f.txid = found.txid AND w.ended_at IS NULL LIMIT 1) AS live`,
  );
  return rows.map(({ txid }) => txid);
}

/** The pending findings of transactions, in pages. */
export const readPendingFindings = (
  client: pg.ClientBase,
  txids: readonly Buffer[],
): AsyncGenerator<readonly KeptFinding[]> => pagesOf(client, `state = 'pending' AND txid = ANY($1)`, txids);

/** @param condition SQL that compares findings with the parameter `$1` */
async function* pagesOf(
  client: pg.ClientBase,
  condition: string,
  value: unknown,
): AsyncGenerator<readonly KeptFinding[]> {
  let after: readonly [string, string] = ['00000000-0000-0000-0000-000000000000', ''];
  for (;;) {
    const { rows } = await client.query<KeptFinding>(
      `SELECT ${keptColumns} FROM service.watch_findings WHERE ${condition} AND (watch_id, thing) > ($2::uuid, $3)
        ORDER BY watch_id, thing LIMIT ${keptAtOnce}`,
      [value, ...after],
    );
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < keptAtOnce) return;
    after = [last.watchId, last.thing];
  }
}
