import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { systemFailure } from '#kernel/errors/system-failure.ts';
import { tlsFailure } from '#kernel/errors/tls-failure.ts';

const codeOf = (error: unknown): unknown => {
  const failure = systemFailure(error);
  return failure instanceof AppError ? failure.code : null;
};
const thrownBy = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
const thrown = (code: string, syscall?: string): Error =>
  Object.assign(
    new Error(`${code}: words of the system`),
    { code },
    syscall === undefined ? {} : { syscall },
  );

describe('an error of the system', () => {
  test('about a file is reported with its path', async () => {
    for (const work of [
      () => readFile('/nonexistent/file'),
      () => readdir('/dev/null'),
      () => open('/'.padEnd(5_000, 'x')),
      () => mkdir('/dev/null/x'),
      () => readFile('/'),
    ]) {
      const failure = systemFailure(await thrownBy(work()));
      expect(failure).toMatchObject({
        code: 'file_unusable',
        message: expect.stringContaining('cannot be used: E') as string,
      });
    }
  });

  test('about a missing program', async () => {
    const [error] = (await once(spawn('/nonexistent/program'), 'error').catch((given: unknown) => [
      given,
    ])) as [unknown];
    expect(codeOf(error)).toBe('program_incomplete');
  });

  test('about a missing module', async () => {
    const name = 'no-such-package';
    expect(codeOf(await thrownBy(import(name)))).toBe('program_incomplete');
  });

  test.each([
    ['EMFILE', 'open', 'system_limit'],
    ['EMFILE', 'connect', 'system_limit'],
    ['EAGAIN', 'spawn bash', 'system_limit'],
    ['ERR_WORKER_OUT_OF_MEMORY', undefined, 'system_limit'],
    ['ENOSPC', 'write', 'file_unusable'],
    ['EROFS', 'mkdir', 'file_unusable'],
    ['ERR_FS_EISDIR', undefined, 'file_unusable'],
    ['ERR_DLOPEN_FAILED', undefined, 'program_incomplete'],
  ])('%s of %s is %s', (code, syscall, expected) => {
    expect(codeOf(thrown(code, syscall))).toBe(expected);
  });

  test('stays unchanged if the system is not the cause', async () => {
    const socket = connect('/nonexistent/socket');
    const [lost] = (await once(socket, 'connect').catch((error: unknown) => [error])) as [unknown];
    for (const error of [
      lost,
      thrown('ECONNREFUSED', 'connect'),
      thrown('ENOTFOUND', 'getaddrinfo'),
      thrown('ERR_ASSERTION'),
      new Error('a mistake of ours'),
      new AppError('node_unreachable', 'gone'),
      'text',
    ])
      expect(systemFailure(error)).toBe(error);
  });
});

describe('a failure of TLS', () => {
  test.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate'],
    ['CERT_HAS_EXPIRED', 'certificate'],
    ['CERT_NOT_YET_VALID', 'certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
    ['EPROTO', 'handshake'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'handshake'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'handshake'],
    ['ECONNREFUSED', null],
    ['28P01', null],
  ])('%s is of the %s', (code, kind) => {
    expect(tlsFailure(thrown(code))).toBe(kind);
  });

  test('may have no code', () => {
    const words = 'Client network socket disconnected before secure TLS connection was established';
    expect(tlsFailure(new Error(words))).toBe('handshake');
    expect(tlsFailure(new Error('another'))).toBeNull();
    expect(tlsFailure('text')).toBeNull();
  });
});
