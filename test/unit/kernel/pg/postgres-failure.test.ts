import { describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';

const thrown = (message: string, code?: string, syscall?: string): Error =>
  Object.assign(
    new Error(message),
    code === undefined ? {} : { code },
    syscall === undefined ? {} : { syscall },
  );

describe('an error of work on a database', () => {
  test.each([
    [thrown('could not extend file', '53100'), 'disk_full'],
    [thrown('no space left on device, write', 'ENOSPC'), 'disk_full'],
    [thrown('out of memory', '53200'), 'postgres_exhausted'],
    [thrown('configuration limit exceeded', '53400'), 'postgres_exhausted'],
    [thrown('sorry, too many clients already', '53300'), 'postgres_unreachable'],
    [thrown('the database system is starting up', '57P03'), 'postgres_unreachable'],
    [thrown('timeout exceeded when trying to connect'), 'postgres_unreachable'],
    [thrown('getaddrinfo ENOTFOUND db', 'ENOTFOUND'), 'postgres_unreachable'],
    [thrown('timeout expired'), 'postgres_unreachable'],
    [thrown('connect ENOENT /run/postgresql/.s.PGSQL.5432', 'ENOENT', 'connect'), 'postgres_unreachable'],
    [thrown('connect EACCES /run/postgresql/.s.PGSQL.5432', 'EACCES', 'connect'), 'postgres_refused'],
    [thrown('connect EADDRNOTAVAIL', 'EADDRNOTAVAIL', 'connect'), 'postgres_unreachable'],
    [thrown('Connection terminated unexpectedly'), 'postgres_lost'],
    [thrown('terminating connection due to administrator command', '57P01'), 'postgres_lost'],
    [thrown('terminating connection because of crash of another server process', '57P02'), 'postgres_lost'],
    [thrown('connection failure', '08006'), 'postgres_lost'],
    [thrown('protocol violation', '08P01'), 'postgres_lost'],
    [thrown('idle-in-transaction timeout', '25P03'), 'postgres_lost'],
    [thrown('connect ECONNREFUSED', 'ECONNREFUSED'), 'postgres_lost'],
    [thrown('deadlock detected', '40P01'), 'postgres_conflict'],
    [thrown('could not serialize access', '40001'), 'postgres_conflict'],
    [thrown('canceling statement due to lock timeout', '55P03'), 'postgres_conflict'],
    [thrown('cannot execute INSERT in a read-only transaction', '25006'), 'postgres_read_only'],
    [thrown('canceling statement due to statement timeout', '57014'), 'postgres_timeout'],
    [thrown('invalid page in block 7', 'XX001'), 'postgres_damaged'],
    [thrown('could not read block 7: Input/output error', '58030'), 'postgres_damaged'],
    [thrown('could not open file "base/5/2619": No such file or directory', '58P01'), 'postgres_damaged'],
    [thrown('could not access file', '58000'), 'postgres_damaged'],
    [thrown('stack depth limit exceeded', '54001'), 'postgres_exhausted'],
    [thrown('relation "chain.blocks" does not exist', '42P01'), 'database_incomplete'],
    [thrown('schema "chain" does not exist', '3F000'), 'database_incomplete'],
    [thrown('password authentication failed', '28P01'), 'postgres_refused'],
    [thrown('permission denied for table blocks', '42501'), 'postgres_refused'],
    [thrown('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), 'postgres_refused'],
    [thrown('prepared statement "a" does not exist', '26000'), 'postgres_pooled'],
    [thrown('prepared statement "a" already exists', '42P05'), 'postgres_pooled'],
    [thrown('terminating connection due to transaction timeout', '25P04'), 'postgres_lost'],
    [thrown('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'), 'postgres_tls'],
    [thrown('certificate has expired', 'CERT_HAS_EXPIRED'), 'postgres_tls'],
    [thrown('The server does not support SSL connections'), 'postgres_tls'],
    [thrown('SSL required', '08P01'), 'postgres_tls'],
    [thrown('connection requires a valid client certificate', '28000'), 'postgres_tls'],
  ])('%s is %s', (error, code) => {
    expect(postgresFailure(error)).toMatchObject({ code, cause: error });
  });

  test('stays unchanged if it is not an operating failure', () => {
    for (const error of [
      thrown('a location that ends is not there', 'ERR_ASSERTION'),
      thrown('duplicate key value', '23505'),
      thrown('column does not exist', '42703'),
      thrown('cache lookup failed', 'XX000'),
      thrown('no such file or directory, open', 'ENOENT', 'open'),
      new AppError('node_unreachable', 'gone'),
    ]) {
      expect(postgresFailure(error)).toBe(error);
    }
    expect(postgresFailure('text')).toBe('text');
  });
});
