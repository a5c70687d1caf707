/** A promise of another realm or library: no instance of `Promise`, and of a promise's verbs it has `then` alone. */
export const foreignPromise = <T>(promise: Promise<T>): Promise<T> => {
  class Foreign implements PromiseLike<T> {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise
    then<A = T, B = never>(
      onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
      onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
    ): PromiseLike<A | B> {
      return foreignPromise(promise.then(onFulfilled, onRejected));
    }
  }
  return new Foreign() as unknown as Promise<T>;
};
