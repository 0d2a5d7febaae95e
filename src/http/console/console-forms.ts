import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ActionAnswer } from '#console/actions/console-actions.ts';
import type { OperatorConsole } from '#console/operator-console.ts';
import type { ConsoleSession } from '#console/sessions/sessions.store.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { bodyLimits, limits } from '#http/server/limits.ts';
import type { RoutePolicy } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { errorCodes } from '#kernel/errors/error-codes.ts';
import type { Markup } from '#web/html.ts';
import { type ConsoleReader, refusedFormPage, sheetPage, signInPage } from '#web/pages/console.page.ts';
import { secretOfCookie } from './console-cookie.ts';
import { requireFormToken, requireOwnOrigin } from './own-forms.ts';

export interface ConsoleDependencies extends Pick<AppDependencies, 'network' | 'publicOrigin'> {
  readonly console: OperatorConsole;
}

/** Fields that forms of the console send. Each form has some of them. */
export const formFields = Type.Record(Type.String(), Type.String({ maxLength: 10_000 }), {
  maxProperties: 20,
});
export type FormFields = Readonly<Record<string, string>>;

const policy: RoutePolicy = { errors: 'plain', guard: open, cors: false };

/** A path of the console for a signed-in operator. It is not part of the API, so the API's document leaves it out. */
export function sheetRoute(
  app: App,
  deps: ConsoleDependencies,
  url: string,
  answer: (request: FastifyRequest, reply: FastifyReply, session: ConsoleSession) => Promise<FastifyReply>,
): void {
  app.route({
    method: 'GET',
    url,
    schema: { hide: true },
    config: policy,
    handler: async (request, reply) => {
      const session = await sessionOf(request, deps);
      if (session === null) return sendSignIn(reply, deps, request.url, null, 401);
      return answer(request, reply, session);
    },
  });
}

/** A form of a signed-in operator. It changes something only if it is of the session and of our own origin. */
export function formRoute(
  app: App,
  deps: ConsoleDependencies,
  url: string,
  {
    answer,
    pathAgain,
  }: {
    readonly answer: (
      request: FastifyRequest,
      reply: FastifyReply,
      session: ConsoleSession,
      fields: FormFields,
    ) => Promise<FastifyReply>;
    /** The page with the same form and values, for an operator whose session ended before the form arrived. */
    readonly pathAgain: (request: FastifyRequest, fields: FormFields) => string;
  },
): void {
  app.route({
    method: 'POST',
    url,
    schema: { hide: true, body: formFields },
    config: { ...policy, body: 'form' },
    bodyLimit: bodyLimits.key,
    handler: async (request, reply) => {
      const { publicOrigin = null } = deps;
      const foreign = refusesForeign(reply, deps, () => requireOwnOrigin(request, publicOrigin));
      if (foreign !== null) return foreign;
      const fields = request.body as FormFields;
      const session = await sessionOf(request, deps);
      if (session === null) return sendSignIn(reply, deps, pathAgain(request, fields), sessionEnded, 401);
      const forged = refusesForeign(reply, deps, () => requireFormToken(session.formToken, fields['token']));
      if (forged !== null) return forged;
      return answer(request, reply, session, fields);
    },
  });
}

/** Sends a page of the console. A refusal, such as an unknown id, is a page of the console, too. */
export async function answerSheet(
  reply: FastifyReply,
  { network }: ConsoleDependencies,
  session: ConsoleSession,
  make: () => Promise<ConsoleSheet>,
): Promise<FastifyReply> {
  const frame = { network: network.name, reader: readerOf(session) };
  try {
    const sheet = await make();
    return await sendConsolePage(reply, sheetPage({ ...frame, sheet }));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const sheet = { title: 'Not found', parts: [{ kind: 'words', words: [error.message] }] } as const;
    return sendConsolePage(reply, sheetPage({ ...frame, sheet }), 404);
  }
}

/** Answers a forged form with a page of the console that says so. Null: `check` refused nothing. */
export function refusesForeign(
  reply: FastifyReply,
  { network }: ConsoleDependencies,
  check: () => void,
): FastifyReply | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'console_form_foreign') throw error;
    return sendConsolePage(reply, refusedFormPage({ network: network.name, reason: error.message }), 403);
  }
}

/** Sends the page of an action. A refusal is in the page, and in the status. */
export function sendAction(
  reply: FastifyReply,
  { network }: ConsoleDependencies,
  session: ConsoleSession,
  { sheet, refusal }: ActionAnswer,
): FastifyReply {
  const page = sheetPage({ network: network.name, reader: readerOf(session), sheet });
  return sendConsolePage(reply, page, refusal === null ? 200 : statusOfRefusal(refusal));
}

function statusOfRefusal(refusal: AppError): number {
  const { code } = refusal;
  const known: Readonly<Partial<Record<string, number>>> = {
    key_refused: 401,
    key_scope: 403,
    rate_limited: 429,
    order_unknown: 404,
    mint_unknown: 404,
    tokenpay_unknown: 404,
    tokenpay_withdrawal_unknown: 404,
  };
  return known[code] ?? (isRefusal(refusal) ? 409 : 503);
}

/** Whether an error is an answer to the operator: the same request would be refused again. */
const isRefusal = (error: unknown): error is AppError =>
  error instanceof AppError && errorCodes[error.code].retry === 'never';

const sessionEnded = 'Your session has ended, so nothing was done. Sign in again, and send the form again.';

async function sessionOf(
  request: FastifyRequest,
  { console: own, publicOrigin = null }: ConsoleDependencies,
): Promise<ConsoleSession | null> {
  const secret = secretOfCookie(request, publicOrigin);
  return secret === null ? null : own.session(secret);
}

/** Sends a page that no browser or proxy keeps. Forms on it state their origin, which `no-referrer` would hide. */
export function sendConsolePage(reply: FastifyReply, page: Markup, status = 200): FastifyReply {
  reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'same-origin')
    .header('x-frame-options', 'DENY')
    .header('x-robots-tag', 'noindex');
  return sendPage(reply, page);
}

export function sendSignIn(
  reply: FastifyReply,
  { network }: ConsoleDependencies,
  to: string,
  notice: string | null,
  status: number,
): FastifyReply {
  return sendConsolePage(reply, signInPage({ network: network.name, to, notice }), status);
}

/** A path of the console, in the characters that a header may have. */
const consolePath = /^\/console(?:[/?][!-~]*)?$/u;

/** The path to show after signing in. Other paths than those of the console are not followed. */
export const nextPathOf = (given: string | undefined): string =>
  given !== undefined && given.length <= limits.urlBytes && consolePath.test(given) ? given : '/console';

const readerOf = ({ key, formToken }: ConsoleSession): ConsoleReader => ({
  account: key.account,
  prefix: key.prefix,
  formToken,
});
