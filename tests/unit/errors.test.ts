import { describe, expect, it } from 'vitest';
import { AntwayError, asAntwayError, errorStatus, isAbort } from '../../src/errors.ts';

describe('an error', () => {
  it('has the documented status for each public code', () => {
    expect(errorStatus).toMatchObject({
      BAD_ADDRESS: 400,
      BAD_RANGE: 416,
      METHOD: 405,
      NOT_FOUND: 404,
      DENIED: 451,
      CORRUPT: 502,
      UNSUPPORTED: 501,
      PEERS_UNREACHABLE: 504,
      OFFLINE: 503,
      TOO_LARGE: 507,
    });
    expect(new AntwayError('DENIED', 'no').status).toBe(451);
  });

  it('writes itself as {code, message, address, details}, the address only at the top', () => {
    const error = new AntwayError('NOT_FOUND', 'Not here.', { address: 'ab', path: 'x' });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 'NOT_FOUND',
      message: 'Not here.',
      address: 'ab',
      details: { path: 'x' },
    });
    expect(JSON.parse(JSON.stringify(new AntwayError('METHOD', 'No.')))).toEqual({
      code: 'METHOD',
      message: 'No.',
      details: {},
    });
  });

  it('is passed on as it is; anything else that was thrown becomes INTERNAL and keeps its cause', () => {
    const known = new AntwayError('CORRUPT', 'bad');
    expect(asAntwayError(known)).toBe(known);
    const cause = new TypeError('x is undefined');
    expect(asAntwayError(cause)).toMatchObject({ code: 'INTERNAL', status: 500, cause });
    expect(asAntwayError('text').message).toContain('text');
  });
});

describe('an abort', () => {
  it('is told from a failure by the error or by the signal', () => {
    expect(isAbort(new DOMException('gone', 'AbortError'))).toBe(true);
    expect(isAbort(new Error('any'), AbortSignal.abort())).toBe(true);
    expect(isAbort(new DOMException('slow', 'TimeoutError'))).toBe(false);
    expect(isAbort(new Error('AbortError'), new AbortController().signal)).toBe(false);
  });
});
