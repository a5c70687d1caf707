/** A thenable: not an instance of `Promise`, and without `catch` and `finally`. */
export const foreignPromise = <T>(promise: Promise<T>): Promise<T> => {
  class Foreign implements PromiseLike<T> {
    // biome-ignore lint/suspicious/noThenProperty: it is a thenable
    then<A = T, B = never>(
      onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
      onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
    ): PromiseLike<A | B> {
      return foreignPromise(promise.then(onFulfilled, onRejected));
    }
  }
  return new Foreign() as unknown as Promise<T>;
};
