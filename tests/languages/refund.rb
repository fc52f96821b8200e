# é🙂
module Shop
  LIMIT = 5

  class Ledger < Base
    attr_reader :total

    def initialize(entries)
      @entries = entries
    end

    def self.open(path)
      new(File.read(path))
    end

    def empty? = @entries.empty?

    def <<(entry)
      @entries << "a #{entry} b" # added
      self
    end

    class << self
      def build
        new([])
      end
    end
  end

  module Till::Drawer
    def ring; end
  end
end

def refund(order, amount: 0)
  text = <<~TEXT
    # not a comment
  TEXT
  amount > 0
end

=begin
a block comment
=end
