/** The user that the client works for. */
export interface WhoIsHere {
  /** The user who has signed in. */
  signedIn(): string | null;
  /** The same, or else the visitor. */
  id(): string | null;
  /** Reads what is stored of them. */
  openCache(): Promise<void>;
}
