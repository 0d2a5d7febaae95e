import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { documentedSchema } from '#http/server/routes/accepted-form.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';

const description = `Satscribe indexes Bitcoin inscriptions, runes and sats. Its answers equal those of ord, and it adds searches,
the holders and the history of runes at any height, and the sats of outputs. Runes are known if every block from the first rune height is indexed; an index of sats is an option (\`INDEX_SATS\`), and without it a node traces the sats of an output.

Paths of the public interface (searches) and of ord keep their own forms; all other paths are ours and use camelCase.
Answers are JSON unless stated otherwise, and CORS is \`*\` without credentials, except on paths that pages of other sites must not use (docs/http.md). ord's pages answer JSON to
\`Accept: application/json\`.`;

/** The version that the public interface has for its paths under `/tokenpay` (client-compat 3.14). */
const tokenpayVersion = '0.1.1';

const tags = [
  { name: 'search', description: 'Contents and metadata by text and by hash' },
  { name: 'inscriptions', description: 'Lists and transfers of inscriptions' },
  { name: 'addresses', description: 'Contents of addresses' },
  { name: 'content', description: 'Inscribed content, unchanged' },
  { name: 'ord', description: 'ord’s JSON API' },
  { name: 'runes', description: 'Data of runes that ord does not offer' },
  { name: 'sats', description: 'Satributes, and the sats of outputs' },
  { name: 'orders', description: 'Prices and orders of inscriptions, and referrals' },
  { name: 'psbts', description: 'Transactions that wallets sign' },
  {
    name: 'token payments',
    description: `Shops that take runes. All paths under \`/tokenpay\` keep to version ${tokenpayVersion} of the public interface`,
    'x-version': tokenpayVersion,
  },
  { name: 'market', description: 'Sales from the chain, and collections of the market' },
  { name: 'events', description: 'Events of blocks' },
  { name: 'mempool', description: 'Unconfirmed inscriptions and transfers' },
  { name: 'watches', description: 'Saved searches, and other watches of a key' },
  { name: 'webhooks', description: 'Keys with which receivers verify webhooks' },
  { name: 'status', description: 'Tip, health and metrics' },
  { name: 'feeds', description: 'Atom feeds of news' },
  { name: 'pages', description: 'HTML pages; most also answer JSON' },
  { name: 'reference', description: 'This document' },
];

/**
 * Builds the OpenAPI 3.1 document from the definitions of all routes that are registered after this call.
 * `app.swagger()` returns the document once the app is ready.
 */
export function describeRoutes(app: App, version: string): void {
  app.register(swagger, {
    convertConstToEnum: false,
    transform: ({ schema, url }) => ({ schema: withAcceptedForms(schema), url }),
    transformObject: (parts) =>
      'openapiObject' in parts ? asAnswered(parts.openapiObject) : parts.swaggerObject,
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Satscribe', version, description, license: { name: 'MIT', identifier: 'MIT' } },
      tags,
      components: {
        securitySchemes: {
          key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'docs/access.md' },
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'the same key as a bearer token (docs/access.md)',
          },
        },
      },
    },
  });
}

/** A schema in which parameters and bodies have the forms that their readers accept. */
function withAcceptedForms<Schema extends FastifySchema | undefined>(schema: Schema): Schema {
  if (schema === undefined) return schema;
  const parts = schema as Readonly<Record<string, TSchema | undefined>>;
  const documented = (['params', 'querystring', 'body'] as const).flatMap((name) => {
    const part = parts[name];
    return part === undefined ? [] : [[name, documentedSchema(part)] as const];
  });
  return { ...schema, ...Object.fromEntries(documented) };
}

interface Parameter {
  readonly required?: boolean;
  readonly in?: string;
  readonly example?: unknown;
  readonly schema?: { readonly default?: unknown };
}

interface Operation {
  parameters?: readonly Parameter[];
  readonly responses?: Record<string, unknown>;
}

interface AnyDocument {
  readonly paths?: object;
  readonly components?: object;
}

/** The plugin's document, plus facts about this server's answers that the plugin does not know. */
function asAnswered<Document extends AnyDocument>(document: Document): Document {
  for (const operation of operationsOf(document)) {
    if (operation.parameters) operation.parameters = operation.parameters.map(asTaken);
  }
  return withSharedErrors(document);
}

function operationsOf({ paths = {} }: AnyDocument): Operation[] {
  const byMethod = Object.values(paths) as readonly Record<string, Operation>[];
  return byMethod.flatMap((path) => Object.values(path));
}

/**
 * A parameter in the form that readers of the document need. A parameter with a default may be left out. Examples of
 * optional parameters stay in their schemas, because "Try it" sends every parameter that has an example. All filters
 * together would find nothing, and some filters exclude each other.
 */
function asTaken(parameter: Parameter): Parameter {
  const { example, schema, ...rest } = parameter;
  if (parameter.in === 'path' || schema === undefined) return parameter;
  const required = parameter.required === true && schema.default === undefined;
  if (required) return parameter;
  return {
    ...rest,
    required,
    schema: example === undefined ? schema : { ...schema, examples: [example] },
  } as Parameter;
}

/** Moves errors that many paths share into one part of the document, under the name of their status. */
function withSharedErrors<Document extends AnyDocument>(document: Document): Document {
  const names = new Map<string, string>();
  const shared: Record<string, unknown> = {};
  const nameOf = (status: string, response: unknown): string => {
    const text = JSON.stringify(response);
    const known = names.get(text);
    if (known !== undefined) return known;
    const base = (STATUS_CODES[status] ?? status).replaceAll(/\W/gu, '');
    let name = base;
    for (let count = 2; name in shared; count++) name = `${base}${count}`;
    names.set(text, name);
    shared[name] = response;
    return name;
  };
  for (const { responses = {} } of operationsOf(document)) {
    for (const [status, response] of Object.entries(responses)) {
      if (Number(status) < 400) continue;
      responses[status] = { $ref: `#/components/responses/${nameOf(status, response)}` };
    }
  }
  return { ...document, components: { ...document.components, responses: shared } };
}
