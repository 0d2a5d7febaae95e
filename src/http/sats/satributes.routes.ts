import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { quoted } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { satributeSpellings } from '#kernel/satributes/definitions.ts';
import { parseSat } from '#kernel/sats/parse-sat.ts';
import type { Sat } from '#kernel/sats/sat.ts';
import type { Markup } from '#web/html.ts';
import type { Site } from '#web/layout.ts';
import { satributePage, satributesPage } from '#web/pages/satributes.page.ts';
import {
  satExplainAnswer,
  satExplainView,
  satributeAnswer,
  satributesAnswer,
  satributesView,
  satributeView,
} from './satribute-views.ts';
import { satributesInForce } from './satributes-in-force.ts';

const tags = ['sats'] as const;
const config = { errors: 'own', guard: open } as const;

/** Routes of the definitions of satributes, and of the satributes of a sat (docs/satributes.md). They need no index. */
export function satributesRoutes(app: App, deps: AppDependencies): void {
  const page = async (reply: FastifyReply, show: (site: Site) => Markup): Promise<FastifyReply> =>
    withSnapshot(
      deps.pool,
      async ({ tip }) => sendPage(reply, show(siteOf(deps, tip))),
      askerOf(reply).signal,
    );

  apiRoute(app, {
    method: 'GET',
    url: '/satributes',
    schema: {
      operationId: 'satributes',
      summary: 'All satributes, with their versions and origins',
      tags,
      response: { 200: pageOrJson(satributesAnswer, 'the satributes'), 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      varyBy(reply, 'Accept');
      const view = satributesView(satributesInForce(deps));
      return prefersJson(request.headers.accept)
        ? view
        : page(reply, (site) => satributesPage({ site, ...view }));
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/satributes/:name',
    schema: {
      operationId: 'satribute',
      summary: 'A satribute: its rule, the first of its sats, and whether a sat has it',
      tags,
      params: Type.Object({
        name: Type.String({
          description: 'an id, or the spelling of a public interface',
          examples: ['block9_450x'],
          acceptedForm: { enum: satributeSpellings },
        }),
      }),
      querystring: Type.Object({
        sat: Type.Optional(
          Type.String({ description: 'a sat to explain, in any notation', acceptedForm: acceptedForms.sat }),
        ),
      }),
      response: { 200: pageOrJson(satributeAnswer, 'the satribute'), 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      const { name } = request.params;
      const book = satributesInForce(deps);
      const satribute = book.find(name);
      if (satribute === null) throw new AppError('not_found', `there is no satribute ${quoted(name)}`);
      const { sat: asked = '' } = request.query;
      const sat = asked.trim() === '' ? null : satNamed(asked.trim());
      const view = satributeView(satribute, book, sat);
      varyBy(reply, 'Accept');
      return prefersJson(request.headers.accept)
        ? view
        : page(reply, (site) => satributePage({ site, ...view }));
    },
  });

  explainRoute(app, deps);
}

function explainRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/sat/:sat/satributes',
    schema: {
      operationId: 'satSatributes',
      summary: 'The satributes of a sat, and the satributes that are unknown for it',
      tags,
      params: Type.Object({ sat: pathParts.sat }),
      response: { 200: satExplainAnswer },
    },
    config,
    handler: (request) =>
      Promise.resolve(satExplainView(satNamed(request.params.sat), satributesInForce(deps))),
  });
}

function satNamed(text: string): Sat {
  const parsed = parseSat(text);
  if ('sat' in parsed) return parsed.sat;
  throw new AppError('request_invalid', parsed.fault, { parameter: 'sat' });
}
