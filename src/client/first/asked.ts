/** Placements that were asked for in this session, and those whose answer came from the network in this page. */
export interface Asked {
  placements: Set<string>;
  answered: Set<string>;
}
