/** Placements that this page has requested, and those whose answer came from the network. */
export interface Requested {
  placements: Set<string>;
  answered: Set<string>;
}
