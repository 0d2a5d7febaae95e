import type { FastifyRequest } from 'fastify';
import { actionNames } from '#console/actions/console-actions.ts';
import { listNames } from '#console/operator-console.ts';
import { hrefOf } from '#console/sheets/list-pages.ts';
import { clientOfRequest } from '#http/server/access/client.ts';
import { open } from '#http/server/access/guard.ts';
import { bodyLimits } from '#http/server/limits.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { consoleCookie } from './console-cookie.ts';
import {
  answerSheet,
  type ConsoleDependencies,
  type FormFields,
  formFields,
  formRoute,
  nextPathOf,
  refusesForeign,
  sendAction,
  sendSignIn,
  sheetRoute,
} from './console-forms.ts';
import { requireOwnOrigin } from './own-forms.ts';

/** Routes of the operator's console (docs/console.md). */
export function consoleRoutes(app: App, deps: ConsoleDependencies): void {
  sessionRoutes(app, deps);
  const { console: own } = deps;
  const shows = (url: string, sheetOf: (request: FastifyRequest) => Promise<ConsoleSheet>): void =>
    sheetRoute(app, deps, url, (request, reply, session) =>
      answerSheet(reply, deps, session, () => sheetOf(request)),
    );
  shows('/console', () => own.overview());
  for (const name of listNames) shows(`/console/${name}`, ({ query }) => own.list(name, singlesOf(query)));
  formRoute(app, deps, '/console/webhooks/replay', {
    pathAgain: (_request, { subject = '' }) => hrefOf('/console/webhooks', { subject }),
    answer: (_request, reply, session, { subject = '' }) =>
      answerSheet(reply, deps, session, async () => own.sendAgain(session, subject)),
  });
  formRoute(app, deps, '/console/audit/run', {
    pathAgain: () => '/console/audit',
    answer: (_request, reply, session) => answerSheet(reply, deps, session, () => own.audit(session)),
  });
  actionRoutes(app, deps);
  shows('/console/orders/:id', async ({ params }) => own.order(idOf(params)));
  shows('/console/collections/:id', async ({ params }) => own.collection(idOf(params)));
}

/** Routes of actions that need the key again. GET asks for values and a confirmation, and changes nothing. */
function actionRoutes(app: App, deps: ConsoleDependencies): void {
  const { console: own } = deps;
  for (const name of actionNames) {
    const url = `/console/actions/${name}`;
    sheetRoute(app, deps, url, async ({ query }, reply, session) =>
      sendAction(reply, deps, session, await own.askAction(session, name, singlesOf(query))),
    );
    formRoute(app, deps, url, {
      pathAgain: (_request, { token: _token, key: _key, seen: _seen, ...values }) => hrefOf(url, values),
      answer: async (request, reply, session, fields) =>
        sendAction(reply, deps, session, await own.act(session, name, fields, clientOfRequest(request))),
    });
  }
}

const idOf = (params: unknown): string => (params as { readonly id: string }).id;

/** Parameters that are given once. Others are ignored. */
const singlesOf = (query: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(query as Record<string, unknown>).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

const keyFaults: readonly string[] = ['key_refused', 'key_scope', 'rate_limited'];

/** Routes that open, show and end sessions. */
function sessionRoutes(app: App, deps: ConsoleDependencies): void {
  const { console: own, publicOrigin = null } = deps;
  app.route({
    method: 'POST',
    url: '/console/sign-in',
    schema: { hide: true, body: formFields },
    config: { errors: 'plain', guard: open, cors: false, body: 'form' },
    bodyLimit: bodyLimits.key,
    handler: async (request, reply) => {
      const refused = refusesForeign(reply, deps, () => requireOwnOrigin(request, publicOrigin));
      if (refused !== null) return refused;
      const fields = request.body as FormFields;
      const to = nextPathOf(fields['to']);
      try {
        const secret = await own.signIn(fields['key'] ?? '', clientOfRequest(request));
        return await reply
          .header('set-cookie', consoleCookie(request, publicOrigin, secret))
          .header('cache-control', 'no-store')
          .redirect(to, 303);
      } catch (error) {
        if (!(error instanceof AppError) || !keyFaults.includes(error.code)) throw error;
        const status = error.code === 'rate_limited' ? 429 : error.code === 'key_scope' ? 403 : 401;
        return sendSignIn(reply, deps, to, error.message, status);
      }
    },
  });
  formRoute(app, deps, '/console/sign-out', {
    pathAgain: () => '/console',
    answer: async (request, reply, session) => {
      await own.signOut(session);
      return reply
        .header('set-cookie', consoleCookie(request, publicOrigin, ''))
        .header('cache-control', 'no-store')
        .redirect('/console', 303);
    },
  });
  sheetRoute(app, deps, '/console/sessions', (_request, reply, session) =>
    answerSheet(reply, deps, session, () => own.sessionsSheet(session)),
  );
  formRoute(app, deps, '/console/sessions/end-all', {
    pathAgain: () => '/console/sessions',
    answer: async (request, reply, session) => {
      const ended = await own.endAllSessions(session);
      reply.header('set-cookie', consoleCookie(request, publicOrigin, ''));
      const words = `${ended} ${ended === 1 ? 'session has' : 'sessions have'} ended, this one too.`;
      return sendSignIn(reply, deps, '/console', words, 200);
    },
  });
}
