/** How a sentence is coloured; the words say it too. */
export type Tone = 'good' | 'wait' | 'bad' | 'plain';

export interface Sentence {
  text: string;
  tone: Tone;
}
