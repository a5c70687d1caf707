import { constants } from 'node:os';

/** A command's end with an exit code of its own. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A failure that the command has reported itself. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
}

/** A person or a supervisor ended the command. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals, message = `interrupted by ${signal}`) {
    super(message);
    this.signal = signal;
  }

  /** What a shell says of a process that the signal ended. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

interface Interruption {
  /** Aborted by the first signal: begin nothing more. The reason is an `InterruptedError`, here and below. */
  asked: AbortSignal;
  /** Aborted by the second: wait for nothing. */
  insisted: AbortSignal;
  /** From now on a signal ends the process. */
  release(): void;
}

/** Listens for SIGINT and SIGTERM. A third one ends the process. */
export const createInterruption = (onAsked: () => void = () => undefined): Interruption => {
  const asked = new AbortController();
  const insisted = new AbortController();
  const release = () => {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const reason = new InterruptedError(signal);
    if (asked.signal.aborted) {
      release();
      insisted.abort(reason);
    } else {
      asked.abort(reason);
      onAsked();
    }
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return { asked: asked.signal, insisted: insisted.signal, release };
};
