;; é🙂
(defpackage :shop)

(defun refund (order amount)
  "Give it back."
  #| a block |#
  (> amount 0))

(defmacro twice (x) `(* 2 ,x))

(defclass ledger (base)
  ((entries :initform nil)))

(defmethod add ((l ledger) entry)
  (push entry (entries l)))

(defgeneric total (l))

(defstruct point x y)

(defvar *limit* 5)
