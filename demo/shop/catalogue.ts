/** Product, shared by the page and the demo's server. The server sets the prices of purchases. */
export interface Product {
  id: string;
  name: string;
  price: number;
  line: string;
  story: string;
}

export const CURRENCY = 'EUR';
export const FREE_DELIVERY_FROM = 60;
export const DELIVERY_PRICE = 6;

export const CATALOGUE: readonly Product[] = [
  {
    id: 'teapot',
    name: 'Rain teapot',
    price: 84,
    line: 'Pours without a drip',
    story:
      'A round belly, a spout cut by hand and a lid that stays on. Holds one litre, which is four honest cups.',
  },
  {
    id: 'mug',
    name: 'Harbour mug',
    price: 24,
    line: 'Sea glaze over bare clay',
    story:
      'Wide enough for two hands. The lower third is left unglazed, so that it warms you before the coffee does.',
  },
  {
    id: 'vase',
    name: 'Reed vase',
    price: 58,
    line: 'For three stems or none',
    story: 'A narrow neck keeps dried grass upright for years. Thrown in one piece, ink-blue inside and out.',
  },
  {
    id: 'bowl',
    name: 'Low bowl',
    price: 32,
    line: 'Soup, fruit, keys',
    story: 'Low and wide, with a foot that fits the palm. Dishwashers and ovens do it no harm.',
  },
  {
    id: 'planter',
    name: 'Fern planter',
    price: 46,
    line: 'With saucer, without fern',
    story: 'Terracotta that breathes, fired twice for frost. The fern in the photo is ours and stays here.',
  },
  {
    id: 'carafe',
    name: 'Still carafe',
    price: 64,
    line: 'Ochre, with one small cup',
    story: 'Keeps water cool through a warm night. The cup turns over and becomes its lid.',
  },
  {
    id: 'plate',
    name: 'Supper plates',
    price: 78,
    line: 'Set of three',
    story: 'Two in cream, one in rose for whoever cooked. They stack flat and never quite match.',
  },
  {
    id: 'candle',
    name: 'Dusk candlesticks',
    price: 72,
    line: 'A tall one and a short one',
    story: 'Black stoneware, heavy at the foot. Each takes any candle of an ordinary size.',
  },
  {
    id: 'tumbler',
    name: 'Noon tumblers',
    price: 36,
    line: 'Two of them, they stack',
    story:
      'Thin walls, a thick foot and a thumb-wide dent where you hold them. For water, tea or the short coffee.',
  },
];

export const findProduct = (id: string): Product | undefined =>
  CATALOGUE.find((product) => product.id === id);

const whole = new Intl.NumberFormat('en-IE', {
  style: 'currency',
  currency: CURRENCY,
  minimumFractionDigits: 0,
});

/** Formats an amount in the language of the shop, such as `€24`. */
export const money = (amount: number): string => whole.format(amount);
