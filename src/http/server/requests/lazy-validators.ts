import ajvCompiler from '@fastify/ajv-compiler';
import { acceptedFormKeyword } from '#http/server/routes/accepted-form.ts';

type BuildCompiler = ReturnType<typeof ajvCompiler>;
type Validate = ReturnType<ReturnType<BuildCompiler>>;

/**
 * Options of the validator. Unknown fields are refused if a schema says so, and otherwise ignored; by default Fastify
 * removes them silently. A repeated parameter becomes a list, and no schema of a parameter allows a list. Reporting all
 * errors is cheap, because queries are small and bodies were checked before.
 */
export const validatorOptions: NonNullable<Parameters<BuildCompiler>[1]> = {
  customOptions: {
    removeAdditional: false,
    coerceTypes: true,
    allErrors: true,
    keywords: [acceptedFormKeyword],
  },
};

/** Fastify's own compilers of schemas. All applications of a process share these compilers and the compiled schemas. */
const buildCompiler: BuildCompiler = ajvCompiler();

/**
 * Compiles the schema for a part of a request when the first request needs it. Compiling all schemas at the start took
 * a third of the start's processor time, and most processes answer only few routes. A test compiles all schemas, so
 * that no request needs a schema that does not compile.
 */
export const lazyValidators: BuildCompiler = (schemas, options) => {
  const compile = buildCompiler(schemas, options);
  return (...route) => {
    let compiled: Validate | null = null;
    const validate = (value: unknown): unknown => {
      compiled ??= compile(...route);
      const answer: unknown = compiled(value);
      // Fastify reads the errors from the function that Fastify called
      (validate as Partial<Validate>).errors = compiled.errors ?? null;
      return answer;
    };
    return validate as Validate;
  };
};
