import type pg from 'pg';
import type { ConsoleSession } from '#console/sessions/sessions.store.ts';
import { checkTypedKey, type KeyCheckParts } from '#console/sessions/sign-in.ts';
import { hrefOf } from '#console/sheets/list-pages.ts';
import type { ConsolePart, ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { lastActionOn, type RecordedAction, recordAction } from './actions.store.ts';
import { collectionActions } from './collection-actions.ts';
import {
  type ActingParts,
  type ActionFields,
  digestOf,
  type OperatorAction,
  type Proposal,
  valueOf,
  words,
} from './operator-action.ts';
import { orderActions } from './order-actions.ts';
import { payoutActions } from './payout-actions.ts';
import { shopActions } from './shop-actions.ts';

const actions = { ...orderActions, ...payoutActions, ...shopActions, ...collectionActions } as const;
export type ActionName = keyof typeof actions;
export const actionNames = Object.keys(actions) as ActionName[];

/** Fields of the console's own that forms of actions contain. */
const ownFields = { seen: 'seen', asked: 'asked' } as const;
/** Maximum number of characters of a value that a link contains, such as an id or an output. */
const givenMax = 200;

/** The page of an action with its values. */
export const actionHref = (name: ActionName, fields: ActionFields = {}): string =>
  hrefOf(`/console/actions/${name}`, fields);

/** The answer to a page or a form of an action. */
export interface ActionAnswer {
  readonly sheet: ConsoleSheet;
  /** Why nothing was done. Null: the page was shown, or the action was done. */
  readonly refusal: AppError | null;
}

export interface ConsoleActionsParts extends KeyCheckParts, ActingParts {}

/** Actions of operators that move money, or decide where it goes (docs/console.md, "Actions"). */
export class ConsoleActions {
  readonly #parts: ConsoleActionsParts;

  constructor(parts: ConsoleActionsParts) {
    this.#parts = parts;
  }

  /** The page that asks for missing values, or the page that asks for a confirmation. Changes nothing. */
  async ask(session: ConsoleSession, name: ActionName, given: ActionFields): Promise<ActionAnswer> {
    const action: OperatorAction = actions[name];
    const fields = fieldsOf(action, given);
    if (isIncomplete(action, fields, given)) return { sheet: askingSheet(name, fields), refusal: null };
    try {
      return { sheet: await this.#confirmation(session, name, fields), refusal: null };
    } catch (error) {
      return { sheet: askingSheet(name, fields, refusalOf(error).message), refusal: refusalOf(error) };
    }
  }

  /**
   * Does an action that its operator confirmed with a key. If the key is refused, or the state is another than the one
   * that the operator saw, nothing is done.
   *
   * @param client the unit that limits count as one client
   */
  async act(
    session: ConsoleSession,
    name: ActionName,
    given: ActionFields,
    client: string,
  ): Promise<ActionAnswer> {
    const action: OperatorAction = actions[name];
    const fields = fieldsOf(action, given);
    try {
      await this.#checkKey(session, name, fields, { typed: given['key'] ?? '', client });
    } catch (error) {
      return this.#refused(session, name, fields, refusalOf(error));
    }
    try {
      await action.check?.(this.#parts, fields);
      await action.prepare?.(this.#parts, fields);
      const result = await this.#actOnce(session, name, fields, given[ownFields.seen] ?? '');
      const back = { words: 'Continue', href: action.back(fields) };
      const parts: ConsolePart[] = [words(result), { kind: 'actions', actions: [back] }];
      return { sheet: { title: 'Done', parts }, refusal: null };
    } catch (error) {
      const refusal = refusalOf(error);
      const last = await lastActionOn(this.#parts.pool, action.target(fields));
      return this.#refused(session, name, fields, refusal, last);
    }
  }

  /** Throws the errors of `checkTypedKey`, and `key_refused` for keys of other accounts. Records a refused key. */
  async #checkKey(
    session: ConsoleSession,
    name: ActionName,
    fields: ActionFields,
    { typed, client }: { readonly typed: string; readonly client: string },
  ): Promise<void> {
    try {
      const key = await checkTypedKey(this.#parts, typed, client);
      if (key.account !== session.key.account)
        throw new AppError(
          'key_refused',
          `This key belongs to another account. Type a key of ${session.key.account}, who signed in here.`,
        );
    } catch (error) {
      // the limit of typed keys bounds the number of these records
      if (error instanceof AppError && (error.code === 'key_refused' || error.code === 'key_scope'))
        await recordAction(this.#parts.pool, session, {
          action: name,
          target: targetOf(name, fields),
          parameters: { ...fields, refused: error.code },
          result: 'Refused, because the typed key was wrong. Nothing was done.',
        });
      throw error;
    }
  }

  /** Compares, acts and records in one transaction. Throws `console_changed` and the refusals of the action. */
  #actOnce(session: ConsoleSession, name: ActionName, fields: ActionFields, seen: string): Promise<string> {
    return withTransaction(this.#parts.pool, async (tx) => {
      const proposal = await actions[name].propose(tx, this.#parts, fields, operatorOf(session));
      if ((await digestIn(tx, name, fields, proposal)) !== seen)
        throw new AppError(
          'console_changed',
          'Something changed after the confirmation was shown, so nothing was done. Read the new state, and confirm again if the action is still right.',
        );
      const result = await proposal.act();
      const target = targetOf(name, fields);
      await recordAction(tx, session, { action: name, target, parameters: fields, result });
      return result;
    });
  }

  /** The state of now, with the reason why nothing was done and the action of another operator. */
  async #refused(
    session: ConsoleSession,
    name: ActionName,
    fields: ActionFields,
    refusal: AppError,
    last: RecordedAction | null = null,
  ): Promise<ActionAnswer> {
    const why = words(
      saysNothingDone(refusal) ? refusal.message : `Nothing was done. ${refusal.message}`,
      ...(last === null ? [] : [lastWords(last)]),
    );
    const again = { ...fields, [ownFields.asked]: 'yes' };
    const { sheet, refusal: other } = await this.ask(session, name, again);
    // a page that is refused for the same reason names the reason already
    const parts = other?.message === refusal.message ? sheet.parts.slice(1) : sheet.parts;
    return { sheet: { title: sheet.title, parts: [why, ...parts] }, refusal };
  }

  async #confirmation(session: ConsoleSession, name: ActionName, typed: ActionFields): Promise<ConsoleSheet> {
    const action: OperatorAction = actions[name];
    await action.check?.(this.#parts, typed);
    return withTransaction(this.#parts.pool, async (tx) => {
      const proposal = await action.propose(tx, this.#parts, typed, operatorOf(session));
      const fields = { ...typed, ...proposal.fixed };
      const seen = await digestIn(tx, name, fields, proposal);
      return {
        title: action.title,
        parts: [
          ...proposal.parts,
          {
            kind: 'confirm',
            action: actionHref(name),
            button: action.button,
            fields: { ...given(fields), [ownFields.asked]: 'yes', [ownFields.seen]: seen },
          },
          { kind: 'actions', actions: [{ words: 'Do nothing', href: action.back(fields) }] },
        ],
      };
    });
  }
}

/** Whether the words of a refusal say already that nothing was done. */
const saysNothingDone = ({ code }: AppError): boolean => code === 'console_changed';

const targetOf = (name: ActionName, fields: ActionFields): string => actions[name].target(fields);

/** The operator as decisions name it. */
const operatorOf = ({ key }: ConsoleSession): string => `${key.account} (${key.prefix}…)`.slice(0, 100);

/** Values that are not empty. */
const given = (fields: ActionFields): ActionFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

/** The digest of everything that a confirmation confirms. It changes with each action on the same target. */
async function digestIn(
  tx: pg.ClientBase,
  name: ActionName,
  fields: ActionFields,
  { seen }: Proposal,
): Promise<string> {
  const last = await lastActionOn(tx, targetOf(name, fields));
  const values = Object.keys(fields)
    .toSorted()
    .map((field) => [field, fields[field]]);
  return digestOf([name, values, seen, last?.id ?? null]);
}

/** The values of an action, without control characters. Unknown values are left out. */
function fieldsOf({ given: names, inputs }: OperatorAction, values: ActionFields): ActionFields {
  const lengths = [
    ...names.map((name) => [name, givenMax] as const),
    ...inputs.map(({ name, maxLength }) => [name, maxLength] as const),
  ];
  return Object.fromEntries(
    lengths.map(([name, length]) => [
      name,
      valueOf(values, name)
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, length)
        // a cut pair of surrogates is no text that the database can store
        .toWellFormed(),
    ]),
  );
}

/** Whether the operator has yet to type values. */
const isIncomplete = ({ inputs }: OperatorAction, fields: ActionFields, values: ActionFields): boolean =>
  inputs.some(({ name, isRequired }) => isRequired && valueOf(fields, name) === '') ||
  (inputs.some(({ isRequired }) => !isRequired) && values[ownFields.asked] === undefined);

/** The page that asks for the values of an action. */
function askingSheet(name: ActionName, fields: ActionFields, notice: string | null = null): ConsoleSheet {
  const { title, about, inputs, given: names, back }: OperatorAction = actions[name];
  const hidden = Object.fromEntries(names.map((field) => [field, valueOf(fields, field)]));
  const form: ConsolePart = {
    kind: 'ask',
    action: actionHref(name),
    button: 'Continue',
    fields: { ...hidden, [ownFields.asked]: 'yes' },
    inputs: inputs.map((input) => ({ ...input, value: valueOf(fields, input.name) })),
  };
  return {
    title,
    parts: [
      ...(notice === null ? [] : [words(notice)]),
      ...(inputs.length === 0 ? [] : [words(about), form]),
      { kind: 'actions', actions: [{ words: 'Back', href: back(fields) }] },
    ],
  };
}

const lastWords = ({ doneAt, account, prefix, action, result }: RecordedAction): string =>
  `The last action here: at ${doneAt.toISOString().slice(0, 19).replace('T', ' ')} UTC, ${account} (${prefix}…) did ${action}. ${result}`;

/** An error that is an answer to the operator. Other errors are thrown. */
function refusalOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}
