import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { mediaTypes } from '#http/bodies/parsing/media-types.ts';
import { atOnce } from '#http/server/at-once.ts';
import { type ErrorForm, errorForms } from '#http/server/errors/error-forms.ts';
import { refuseRepeatedHeaders } from '#http/server/headers/single-headers.ts';
import { limits } from '#http/server/limits.ts';
import type { RouteSchema } from '#http/server/routes/api-route.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { hasBrokenPath } from './request-target.ts';
import { checkBody, checkQuery, checkWholeNumbers, refuseUnknownParameters } from './validation.ts';

/** Checks each request against the limits and the schemas of its route. */
export function checkRequests(app: FastifyInstance): void {
  app.addHook(
    'onRequest',
    atOnce((request, reply) => {
      reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
      refuseRepeatedHeaders(request.raw);
      if (Buffer.byteLength(request.url) > limits.urlBytes) {
        throw new AppError('url_too_long', `the URL is longer than ${limits.urlBytes} bytes`);
      }
      if (hasBrokenPath(request.raw)) {
        throw new AppError('request_invalid', 'the path is not percent-encoded UTF-8');
      }
      for (const part of Object.values(request.params as Readonly<Record<string, string>>)) {
        if (part.length > limits.pathParameterChars) {
          throw new AppError(
            'url_too_long',
            `a part of the path is longer than ${limits.pathParameterChars} characters`,
          );
        }
      }
      checkQuery(request.url);
    }),
  );
  app.addHook(
    'preValidation',
    atOnce((request) => {
      const { config, schema = {} } = request.routeOptions;
      const { querystring, body } = schema as Partial<RouteSchema>;
      checkWholeNumbers(request);
      const form: ErrorForm = errorForms[config.errors ?? 'plain'];
      if (form.refusesUnknown) refuseUnknownParameters(querystring, request.query);
      if (body === undefined) return;
      if (request.body === undefined) throw bodyMissing(config);
      checkBody(body, request.body);
    }),
  );
}

/** The error for a request without a body. For ord's lists of ids, its status is 415, as in ord. */
function bodyMissing({ sink, body: kind = 'json' }: FastifyContextConfig): AppError {
  if (sink !== undefined)
    return new AppError('request_invalid', 'the body is missing; send the bytes of the file');
  const code = kind === 'texts' ? 'media_type_unsupported' : 'request_invalid';
  return new AppError(code, `the body is missing; send it with the header content-type: ${mediaTypes[kind]}`);
}
