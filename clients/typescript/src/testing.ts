export class FakeGrantd {
  options = { url: 'http://fake', key: 'x' };
}
