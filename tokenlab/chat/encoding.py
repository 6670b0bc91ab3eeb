def encode_marked(tokenizer, marked):
    raise NotImplementedError
